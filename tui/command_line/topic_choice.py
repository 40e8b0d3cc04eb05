"""Which topics `--topic` means, for commands that only show."""

import click

from model.actions.proposal import ActionRefused
from model.cluster.cluster_image import ClusterImage
from tui.data.acting import topics


def chosen_topics(
    image: ClusterImage, wanted: str | None, *, exclude_internal: bool = False, if_exists: bool = False
) -> list[str]:
    """As `tui.data.acting.topics.chosen_topics`. Raises click.ClickException."""
    try:
        return topics.chosen_topics(image, wanted, exclude_internal=exclude_internal, if_exists=if_exists)
    except ActionRefused as refusal:
        raise click.ClickException(str(refusal)) from None

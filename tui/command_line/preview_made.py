"""What `kdrill preview` does once its options are read: checks names, previews here or on Spark, shows."""

import difflib
from collections.abc import Sequence

import click
import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.words import listed
from model.consumers.assignors.strategies import STRATEGIES
from model.consumers.no_groups import no_groups, not_previewed
from spark_tasks.client.once import Engine
from spark_tasks.previews.analysis import PREVIEWS
from spark_tasks.previews.staging import previewed, stage
from tui.command_line.demo import json_line, tell_demo
from tui.command_line.engine_options import compute
from tui.command_line.preview_shown import Shown, Wish
from tui.command_line.source_image import image_of
from tui.data.opening import Opening

LARGE_COST = 600_000_000
"""In partitions, as `pieces` counts: about 20 s in this process, where a cold start of Spark (7 s) begins to pay."""


def make(opening: Opening, wish: Wish, engine: Engine, *, as_json: bool) -> None:
    """All of it. Raises click.ClickException, click.UsageError for names that nothing has, and SourceError."""
    _check_strategies(wish.strategies)
    image = _image(opening)
    _check_keys(image, wish.keys)
    staged = stage(image, dict.fromkeys(wish.keys) or None)
    cost = sum(unit.cost for unit in PREVIEWS.units(staged.arrays, wish.parameters))
    outcome = compute(engine, PREVIEWS, staged.arrays, wish.parameters, is_large=cost > LARGE_COST)
    shown = Shown(image, staged, wish, outcome)
    if as_json:
        click.echo(json_line(msgspec.to_builtins(shown.document()), opening))
    else:
        tell_demo(opening)
        click.echo("\n".join(shown.lines()))


def _image(opening: Opening) -> ClusterImage:
    image = image_of(opening)
    if opening.bootstrap:
        # Kafka's protocol takes a while to load, and only those who ask brokers need it.
        from tui.command_line.broker_groups import with_groups  # noqa: PLC0415

        image = with_groups(image, opening)
    return image


def _check_strategies(names: Sequence[str]) -> None:
    for name in names:
        if name not in STRATEGIES:
            close = difflib.get_close_matches(name, STRATEGIES, 3, 0.4)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(STRATEGIES)}"
            raise click.UsageError(f"no strategy {name!r}: {hint}")


def _check_keys(image: ClusterImage, keys: Sequence[str]) -> None:
    known = previewed(image)
    for key in keys:
        if key not in known and (group := image.group(key)) is not None:
            why = "strategies here apply to groups in which each partition has one owner"
            raise click.UsageError(f"{key!r} is a {group.kind} group: {why}")
        if key not in known:
            close = difflib.get_close_matches(key, known, 3, 0.4)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {listed(sorted(known))}"
            raise click.UsageError(f"no group {key!r}: {hint if known else not_previewed(image) or no_groups(image)}")

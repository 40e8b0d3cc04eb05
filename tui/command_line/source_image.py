"""The cluster of a SOURCE as it is now, for commands that look once; or the demo cluster, where that is asked for."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from model.sandbox.errors import SandboxError
from model.sources.source import SourceError
from tui.command_line import following
from tui.command_line.demo import DEMO
from tui.data.opening import Opening

if TYPE_CHECKING:
    from model.cluster.cluster_image import ClusterImage
    from model.sources.feed import Moment


def image_of(opening: Opening) -> "ClusterImage":
    """The first image in which everything is known, but for groups of brokers beside a ZooKeeper, which takes longer.

    Raises SourceError.
    """
    seen: list[ClusterImage] = []

    def see(moment: "Moment") -> bool:
        seen.append(moment.image)
        return False

    with _opened(msgspec.structs.replace(opening, bootstrap="")) as found:
        following.run(following.follow(found, see))
    image = seen[0]
    if opening.is_demo:
        image = msgspec.structs.replace(image, provenance=msgspec.structs.replace(image.provenance, source=DEMO))
    return image


@contextlib.contextmanager
def _opened(opening: Opening) -> Iterator[Opening]:
    """What is to be opened; the demo cluster runs as long as the context."""
    if not opening.is_demo:
        yield opening
        return
    from model.sandbox.demo_sandbox import DemoSandbox  # noqa: PLC0415 - only the demo pays for it

    try:
        with DemoSandbox(period_s=None) as demo:
            yield msgspec.structs.replace(opening, source=demo.source)
    except SandboxError as error:
        raise SourceError(str(error)) from None

"""A source that knows what was before it was opened, and after."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from model.cluster.cluster_image import ClusterImage

if TYPE_CHECKING:  # Arrow takes a while to load, and only recordings need it
    from model.recordings.stretches import Stretch


@runtime_checkable
class Remembering(Protocol):
    """A source with a past of its own, such as a recording. Its questions may take long; any thread may ask."""

    @property
    def opened_ms(self) -> int:
        """The moment that `open` tells is the last one recorded until this time."""
        ...

    def around(self, at_ms: int, most: int) -> "Stretch":
        """A stretch of about so many moments, with this time in its middle if it can be. Raises SourceError."""
        ...

    def images(self, from_ms: int, to_ms: int) -> Iterator[tuple[int, ClusterImage]]:
        """When each moment was recorded (ms), and the cluster then, in order. Raises SourceError."""
        ...

"""One moment past: what had just happened, whether that is worth stopping at, and the way to its image. No findings:
they can be found again from the image.
"""

from collections.abc import Mapping

import msgspec

from model.cluster.changes import Change
from model.cluster.cluster_image import ClusterImage
from model.sources.timeline.sharing import WayBack

MARKS: Mapping[str, frozenset[str]] = {
    "broker": frozenset({"broker-lost", "broker-registered", "broker-bounced"}),
    "controller": frozenset({"controller-moved", "controller-lost", "controller-elected"}),
    "leader": frozenset({"leader-moved", "partition-offline", "partition-online", "unclean-election"}),
    "isr": frozenset({"isr-shrunk", "isr-expanded"}),
    "fault": frozenset({"sandbox-fault"}),
}
"""What one may go to the next of → the kinds of changes that are that."""

MARKED = frozenset(kind for name in ("broker", "controller", "leader", "fault") for kind in MARKS[name])
"""Kinds of changes that make a moment a mark. The ISR's are not among them: each loss of a broker brings hundreds."""

STEADY = frozenset({"offset-committed"})
"""Kinds that come all the time while all is well: who goes through moments does not stop at them."""


class Instant(msgspec.Struct, frozen=True, eq=False):
    """`seq` is the Moment's; `at_ms` when it was, never before the instant before it."""

    seq: int
    at_ms: int
    frame: ClusterImage
    """The image without its mappings; `Timeline.image_of` has all of it."""
    changes: tuple[Change, ...] = ()
    """What happened on the way from the instant before to this one."""
    errors: int = 0
    """Findings that are errors."""
    more_errors: bool = False
    """Than at the instant before."""
    total: int = 0
    """Changes since the source was opened, up to this instant."""
    way: WayBack = {}
    """From the instant after it to this one."""
    size_bytes: int = 0
    """What keeping this costs beside the instant after it; 0 for the newest, which is there anyway."""

    @property
    def is_mark(self) -> bool:
        """Whether the controller, a broker or a leader changed, a fault was made or errors were found."""
        return self.more_errors or any(change.kind in MARKED for change in self.changes)

    @property
    def is_event(self) -> bool:
        """Whether anything happened but what always does."""
        return self.more_errors or any(change.kind not in STEADY for change in self.changes)

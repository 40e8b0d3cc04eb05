"""One thing that happened, how serious each kind is, and how many of a kind become one line."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

import msgspec

from model.cluster.cluster_image import ClusterImage, differing_keys
from model.cluster.findings.check import Severity
from model.cluster.texts import MOST, listed, metadata_place

SEVERITY: dict[str, Severity] = {
    "loaded": "info",
    "cluster-identified": "info",
    "broker-lost": "error",
    "broker-fenced": "error",
    "broker-bounced": "warn",
    "broker-registered": "info",
    "broker-unfenced": "info",
    "broker-changed": "info",
    "controller-lost": "error",
    "controller-moved": "warn",
    "controller-elected": "info",
    "controller-epoch": "info",
    "partition-offline": "error",
    "unclean-election": "error",
    "last-known-leader": "warn",
    "partition-online": "info",
    "leader-moved": "info",
    "isr-shrunk": "warn",
    "isr-expanded": "info",
    "partition-recovered": "info",
    "partition-started": "info",
    "partition-state-gone": "warn",
    "topic-created": "info",
    "topic-replaced": "warn",
    "topic-removed": "warn",
    "partitions-added": "info",
    "partitions-unassigned": "warn",
    "replicas-changed": "info",
    "reassignment-begun": "info",
    "reassignment-finished": "info",
    "reassignment-requested": "info",
    "reassignment-request-cleared": "info",
    "deletion-requested": "warn",
    "deletion-cleared": "info",
    "preferred-election-requested": "info",
    "preferred-election-cleared": "info",
    "config-changed": "info",
    "group-appeared": "info",
    "group-gone": "info",
    "member-joined": "info",
    "member-left": "info",
    "partition-claimed": "info",
    "partition-released": "info",
    "partition-handed-over": "info",
    "offset-committed": "info",
    "group-rebalanced": "info",
    "group-coordinator-moved": "info",
    "znode-unreadable": "warn",
    "znode-readable": "info",
    "acted": "info",
    "sandbox-fault": "warn",
    "sandbox-repair": "info",
    "sandbox-process": "info",
    "sandbox-failure": "error",
    "sandbox-load": "info",
    "sandbox-group": "warn",
    "sandbox-isr": "warn",
    "sandbox-audit": "info",
    "sandbox-step": "info",
    "sandbox-expectation": "info",
}
"""Kind → severity, the only place where it is decided."""

_FOLDED = {
    "broker-registered": "brokers registered",
    "broker-changed": "brokers changed their registration",
    "topic-created": "topics created",
    "topic-removed": "topics removed",
    "partitions-added": "topics got more partitions",
    "partition-started": "topics got their first leaders",
    "partition-state-gone": "topics lost state znodes",
    "replicas-changed": "partitions have other replicas",
    "reassignment-begun": "topics began to be reassigned",
    "reassignment-finished": "topics are reassigned",
    "deletion-requested": "topics marked for deletion",
    "deletion-cleared": "deletion marks gone",
    "config-changed": "settings changed",
    "group-appeared": "groups appeared",
    "group-gone": "groups gone",
    "member-joined": "consumers joined",
    "member-left": "consumers left",
    "partition-claimed": "partitions claimed",
    "partition-released": "partitions released",
    "partition-handed-over": "partitions handed over",
    "offset-committed": "groups' topics committed offsets",
    "group-coordinator-moved": "groups have another coordinator",
    "znode-unreadable": "znodes cannot be used",
    "znode-readable": "znodes can be used again",
}
"""Kinds of which many in one step become one line, and how that line goes on after the number."""


class Change(msgspec.Struct, frozen=True, gc=False):
    """One thing that happened. `kind` is a stable id; `path` is the znode (on KRaft the place in the metadata) that
    says so, None where there are several.

    `time_ms` is the server's time where the znode's is known, else when the image was seen.
    """

    kind: str
    subject: str
    text: str
    severity: Severity = "info"
    time_ms: int = 0
    zxid: int = -1
    path: str | None = None
    count: int = 1
    """How many things happened, where many became one line."""


class ImageStep(NamedTuple):
    """Two images, one after the other."""

    before: ClusterImage
    after: ClusterImage

    @property
    def lost(self) -> frozenset[int]:
        """Brokers whose registration went away, or that were fenced."""
        return frozenset(self.before.brokers.keys() - self.after.brokers.keys())

    def change(
        self,
        kind: str,
        subject: str,
        text: str,
        path: str | None = None,
        *,
        time_ms: int = 0,
        zxid: int = -1,
        count: int = 1,
    ) -> Change:
        """A change of this step; time and transaction are the later image's where not known better."""
        seen = self.after.provenance
        known_ms, known_zxid = time_ms or seen.time_ms, zxid if zxid >= 0 else seen.zxid
        place = metadata_place(path) if path is not None and self.after.generation == "kraft" else path
        return Change(kind, subject, text, SEVERITY[kind], known_ms, known_zxid, place, count)

    def because(self, broker: int) -> str:
        """`, because b5 was lost` where this broker went away in the same step, `was fenced` where it was that."""
        if broker not in self.lost:
            return ""
        return f", because b{broker} was {'fenced' if broker in self.after.fenced else 'lost'}"


def folded(step: ImageStep, changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes, where more than eight of one kind that allows it become one line in the first one's place."""
    kinds: dict[str, list[Change]] = {}
    for change in changes:
        kinds.setdefault(change.kind, []).append(change)
    return tuple(change for kind, some in kinds.items() for change in _fold(step, kind, some))


def _fold(step: ImageStep, kind: str, changes: list[Change]) -> list[Change]:
    if len(changes) <= MOST or kind not in _FOLDED:
        return changes
    subjects = list(dict.fromkeys(change.subject for change in changes))
    text = f"{len(changes):,} {_FOLDED[kind]}: {listed(subjects)}"
    count = sum(change.count for change in changes)
    return [step.change(kind, subjects[0] if len(subjects) == 1 else "cluster", text, count=count)]


K = TypeVar("K")
V = TypeVar("V")


def differing(before: Mapping[K, V], after: Mapping[K, V]) -> list[tuple[K, V | None, V | None]]:
    """(key, old, new) wherever they are not the same object, None where there is none: the old keys first."""
    return [(key, before.get(key), after.get(key)) for key in differing_keys(before, after)]

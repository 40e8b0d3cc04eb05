"""What a scan can find: kinds, how bad each is, what it means for a broker, what to do; and findings as gathered.

All findings are counted, the first ones of each kind are kept. Kafka's behaviour is 3.9's.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.cluster.texts import counted
from model.log.records import Damage, DamageKind
from model.log.records.columns import HeaderColumns

Tell = Callable[[int], str]


class Severity(StrEnum):
    """Worst first."""

    DAMAGE = "damage"
    """Bytes that are lost, or that mislead a reader of the log."""
    WARNING = "warning"
    """Nothing is broken here, but somebody should know why it is so."""
    NOTE = "note"
    """Usual: work of the broker that is not done yet, an index of an older release, or a folder that changed while it
    was scanned.
    """


OFFSETS_BACK = "offsets-back"
BAD_INDEX = "bad-index"
BAD_TIME_INDEX = "bad-time-index"
BAD_TRANSACTION_INDEX = "bad-transaction-index"
BAD_SNAPSHOT = "bad-snapshot"
BAD_CHECKPOINT = "bad-checkpoint"
ZERO_TAIL = "zero-tail"
UNREADABLE = "unreadable"
BELOW_HIGH_WATERMARK = "below-high-watermark"
GAP = "gap"
EPOCHS_BACK = "epochs-back"
FUTURE = "future-timestamps"
MISSING_INDEX = "missing-index"
MISSING_TIME_INDEX = "missing-time-index"
ORPHANED_INDEX = "orphaned-index"
STRAY = "stray-folder"
UNFINISHED = "unfinished"
OLDER_INDEX = "older-index"
OTHER_TOPIC_ID = "other-topic-id"
GONE = "gone"
CHANGED = "changed"

SEVERITY: Mapping[str, Severity] = {
    DamageKind.BAD_CRC: Severity.DAMAGE,
    DamageKind.BAD_LENGTH: Severity.DAMAGE,
    DamageKind.UNKNOWN_MAGIC: Severity.DAMAGE,
    DamageKind.ZEROS: Severity.DAMAGE,
    OFFSETS_BACK: Severity.DAMAGE,
    DamageKind.BAD_RECORDS: Severity.DAMAGE,
    DamageKind.BAD_STREAM: Severity.DAMAGE,
    DamageKind.UNKNOWN_CODEC: Severity.DAMAGE,
    DamageKind.TRUNCATED: Severity.DAMAGE,
    DamageKind.TORN: Severity.DAMAGE,
    BAD_INDEX: Severity.DAMAGE,
    BAD_TIME_INDEX: Severity.DAMAGE,
    BAD_TRANSACTION_INDEX: Severity.DAMAGE,
    BAD_CHECKPOINT: Severity.DAMAGE,
    BAD_SNAPSHOT: Severity.DAMAGE,
    BELOW_HIGH_WATERMARK: Severity.WARNING,
    UNREADABLE: Severity.WARNING,
    GAP: Severity.WARNING,
    EPOCHS_BACK: Severity.WARNING,
    OTHER_TOPIC_ID: Severity.WARNING,
    DamageKind.TOO_LARGE: Severity.WARNING,
    ZERO_TAIL: Severity.WARNING,
    FUTURE: Severity.WARNING,
    MISSING_INDEX: Severity.WARNING,
    MISSING_TIME_INDEX: Severity.WARNING,
    ORPHANED_INDEX: Severity.WARNING,
    STRAY: Severity.WARNING,
    UNFINISHED: Severity.NOTE,
    OLDER_INDEX: Severity.NOTE,
    GONE: Severity.NOTE,
    CHANGED: Severity.NOTE,
}
"""By kind, the worst kinds first."""

MOST_OF_A_KIND = 5
"""So many findings of one kind in one file are told one by one."""


def missing(first: int, following: int) -> str:
    """The cause of a gap."""
    return f"{counted(following - first, 'offset')} missing, from {first} on"


class FoundInFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something found in a file; `position` and `size` are in bytes, -1 where it has none."""

    kind: str
    file: str
    """Its name in the partition folder; empty for the folder itself."""
    cause: str
    """One sentence, without its subject."""
    position: int = -1
    size: int = -1


class Gathered:
    """What is found in one segment or folder; all is counted, the first of each kind are kept."""

    def __init__(self, file: str = "") -> None:
        """`file` is what findings are about unless they say otherwise."""
        self.counts: dict[str, int] = {}
        self.kept: list[FoundInFile] = []
        self._file = file

    def add(self, kind: str, cause: str, position: int = -1, size: int = -1, file: str = "") -> None:
        if self.counts.get(kind, 0) < MOST_OF_A_KIND:
            self.kept.append(FoundInFile(kind, file or self._file, cause, position, size))
        self._count(kind, 1)

    def add_damage(self, damage: Damage, kind: str = "", file: str = "") -> None:
        """Damage that a reader of `model.log` told, under another kind if one is given."""
        self.add(kind or damage.kind.value, damage.cause, damage.position, damage.size, file)

    def has_damage(self) -> bool:
        return any(SEVERITY[kind] is Severity.DAMAGE for kind in self.counts)

    def add_batches(self, kind: str, columns: HeaderColumns, places: NDArray[np.bool_], tell: Tell) -> None:
        """The batches at these places; `tell` gives the cause of the n-th batch."""
        found: list[int] = np.flatnonzero(places).tolist()
        room = max(MOST_OF_A_KIND - self.counts.get(kind, 0), 0)
        for place in found[:room]:
            position, size = int(columns.position[place]), int(columns.size[place])
            self.kept.append(FoundInFile(kind, self._file, tell(place), position, size))
        self._count(kind, len(found))

    def _count(self, kind: str, number: int) -> None:
        if number:
            self.counts[kind] = self.counts.get(kind, 0) + number


_AGAIN = (
    "Where another replica is in sync: stop the broker, move this partition folder away, start it: it is copied anew."
)
_CUT = (
    "A write was cut short. Behind the recovery point a start after a crash cuts the log there; a follower fetches "
    "what it lacks from the leader."
)
_UNTRUSTED = (
    f"Consumers and followers stop at it with an error; a start does not notice it below the recovery point. {_AGAIN}"
)
_WRITTEN_SO = (
    "The CRC holds, so this is how it was written, by the producer or the leader: other replicas have it as well. "
    "Consumers stop at it: have them seek past it."
)
_INDEX = (
    "Reads by offset or time can go wrong, and a start does not notice. Stop the broker and delete the file: "
    "the start makes it anew from the log."
)

MEANINGS: Mapping[str, str] = {
    DamageKind.TORN: _CUT,
    DamageKind.TRUNCATED: _CUT,
    DamageKind.ZEROS: f"Inside a closed segment, so bytes that were never synced are lost. {_AGAIN}",
    DamageKind.BAD_LENGTH: _UNTRUSTED,
    DamageKind.UNKNOWN_MAGIC: _UNTRUSTED,
    DamageKind.BAD_CRC: _UNTRUSTED,
    DamageKind.UNKNOWN_CODEC: _UNTRUSTED,
    DamageKind.BAD_STREAM: _WRITTEN_SO,
    DamageKind.BAD_RECORDS: _WRITTEN_SO,
    OFFSETS_BACK: f"Offsets must rise: reads between them go wrong. {_AGAIN}",
    BAD_INDEX: _INDEX,
    BAD_TIME_INDEX: _INDEX,
    BAD_TRANSACTION_INDEX: "Consumers of committed records may see aborted ones. Delete the file as an index.",
    BAD_SNAPSHOT: "A start removes it and reads the producers from the log instead: a slower start.",
    BAD_CHECKPOINT: (
        "A start may refuse the whole log folder for it. Stop the broker and delete the file: the start recovers more, "
        "and knows what the log tells."
    ),
    DamageKind.TOO_LARGE: "Its records were not looked at.",
    ZERO_TAIL: (
        "Room of a preallocated file (log.preallocate) while the broker runs; after a crash, bytes that were never "
        "synced: a start cuts them."
    ),
    UNREADABLE: "Left out of all sums. Ask as the user that the broker runs as, and look at the disk.",
    BELOW_HIGH_WATERMARK: (
        "Acknowledged records are not on this disk any more. Do not let it lead (unclean election) while another "
        "replica has them."
    ),
    GAP: ("In a log that is not compacted each offset follows the one before. A segment was deleted by hand, or lost."),
    EPOCHS_BACK: "A leader wrote with an epoch that was over: replicas may differ from here on.",
    FUTURE: (
        "Retention by time keeps a segment until its newest timestamp has aged, and all segments after it. A "
        "producer's clock is wrong, or its unit is not ms."
    ),
    MISSING_INDEX: "The next start makes it anew; a long start where many are missing.",
    MISSING_TIME_INDEX: "The next start makes it anew; a long start where many are missing.",
    ORPHANED_INDEX: "Its .log is not there: deleted by hand, or lost. A start removes the index.",
    STRAY: "The broker set it aside at a start (3.4+), for the cluster has it elsewhere. It can be deleted.",
    OTHER_TOPIC_ID: "Left from before the topic was deleted and created anew: the broker will not serve it.",
}
"""Kinds of damage and warnings; notes speak for themselves."""

"""What the load's process and the sandbox tell each other (`model.hosts.child_process`); and what an audit found.

Values only. An audit says what became of every record that was acknowledged.
"""

from typing import Literal

import msgspec

ConsumerStatus = Literal["joining", "consuming", "stopped"]


class LostRecords(msgspec.Struct, frozen=True, kw_only=True):
    """Acknowledged records of one partition that are in its log no more: the numbers first to last, both included."""

    partition: str
    first_number: int
    last_number: int
    first_offset: int
    """Where they were, as the acknowledgement said."""
    last_offset: int
    acknowledged_from_ms: int
    acknowledged_to_ms: int


class OddRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record that is in the log twice, or behind a later one."""

    partition: str
    number: int
    offsets: tuple[int, ...]


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a read of all partitions proved."""

    format: str = "kdrill.audit/1"
    acknowledged: int
    found: int
    lost: int
    duplicated: int
    reordered: int
    unacknowledged_found: int = 0
    """Records in the log that nobody was told of: an answer was lost. No harm."""
    lost_records: tuple[LostRecords, ...] = ()
    duplicated_records: tuple[OddRecord, ...] = ()
    """The first 1,000."""
    reordered_records: tuple[OddRecord, ...] = ()
    """The first 1,000."""
    unread: tuple[str, ...] = ()
    """Partitions that could not be read, and why: nothing is said about them."""

    @property
    def is_clean(self) -> bool:
        """Whether all was read, and nothing is lost, duplicated or reordered."""
        return not (self.lost or self.duplicated or self.reordered or self.unread)

    def __str__(self) -> str:
        if self.is_clean:
            return f"all {self.acknowledged:,} acknowledged records are there, each once and in order"
        wrong = {"lost": self.lost, "duplicated": self.duplicated, "reordered": self.reordered}
        told = [f"{count:,} {what}" for what, count in wrong.items() if count]
        if self.unread:
            told.append(f"{len(self.unread)} partitions could not be read ({self.unread[0]})")
        return f"of {self.acknowledged:,} acknowledged records: {', '.join(told)}"


class LoadSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The first message."""

    bootstrap: tuple[str, ...]
    partitions: tuple[tuple[str, int], ...]
    """What is produced to."""
    rate: float
    is_idempotent: bool = True
    """Formats of records before 0.11 have no numbers of producers; a retry may write a record twice then."""
    consumers: tuple[tuple[str, str], ...]
    """Group and member of each consumer of a coordinator group."""


class LoadOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """What to do; answered by a sentence that says what was done, or by the report of an audit."""

    rate: float | None = None
    stop: tuple[str, str] | None = None
    start: tuple[str, str] | None = None
    audit: bool = False


class ConsumerFacts(msgspec.Struct, frozen=True):
    """One consumer."""

    group: str
    member: str
    status: ConsumerStatus
    partitions: tuple[str, ...]
    consumed: int


class LoadFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How everything stands, every half second."""

    rate: float
    acknowledged: int
    overwritten: int
    waiting: int
    error: str
    consumers: tuple[ConsumerFacts, ...]

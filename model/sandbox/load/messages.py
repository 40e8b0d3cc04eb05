"""What the load's process and the sandbox tell each other, one JSON object a line. Values only."""

import msgspec

from model.sandbox.load.consumer_status import ConsumerStatus
from model.sandbox.load.report import AuditReport


class LoadSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The first line."""

    bootstrap: tuple[str, ...]
    partitions: tuple[tuple[str, int], ...]
    """What is produced to."""
    rate: float
    consumers: tuple[tuple[str, str], ...]
    """Group and member of each consumer of a coordinator group."""


class LoadOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """What to do; answered under its id."""

    id: int
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


class LoadTold(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the load's process."""

    facts: LoadFacts | None = None
    id: int | None = None
    done: str | None = None
    refused: str | None = None
    report: AuditReport | None = None

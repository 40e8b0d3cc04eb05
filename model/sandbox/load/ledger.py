"""The load's numbered records, which of them were acknowledged, and what that proves when it is compared with the log.

Each record has a number of its own within its partition, and the run it belongs to. Records look like somebody's
orders, so that a look into a log says something. Pure, but for the ledger that grows.
"""

from collections.abc import Mapping, Sequence

import msgspec

from model.cluster.ids import TopicPartition
from model.sandbox.messages import AuditReport, LostRecords, OddRecord


class NumberedRecord(msgspec.Struct, frozen=True):
    """A record's value, as JSON."""

    run: str
    """Which load wrote it: a folder that was kept has records of earlier ones."""
    number: int
    """0, 1, 2 … within its partition, in the order in which they were sent."""
    customer: str
    cents: int


class _Identity(msgspec.Struct, frozen=True):
    run: str
    number: int


_DECODER = msgspec.json.Decoder(_Identity)


def numbered_record(run: str, number: int) -> tuple[bytes, bytes]:
    """Key and value."""
    customer = f"customer-{number * 7919 % 1000:03}"
    value = NumberedRecord(run=run, number=number, customer=customer, cents=number * 104_729 % 100_000)
    return customer.encode(), msgspec.json.encode(value)


def number_of(value: bytes | None, run: str) -> int | None:
    """A record's number; None for one of another run, or of somebody else."""
    try:
        identity = _DECODER.decode(value or b"")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return identity.number if identity.run == run else None


MOST_SHOWN = 1000
UNKNOWN_OFFSET = -1
"""Of a batch that the broker calls a duplicate of one it has forgotten the offset of."""


class Acknowledged(msgspec.Struct, frozen=True):
    """Consecutive numbers at consecutive offsets."""

    first_number: int
    count: int
    first_offset: int
    at_ms: int


class AcknowledgedRecords:
    """Grows with every acknowledgement."""

    def __init__(self) -> None:
        self.total = 0
        self.overwritten = 0
        """Acknowledged records whose offsets were given to later ones: they are lost, and there may be more."""
        self._entries: dict[TopicPartition, list[Acknowledged]] = {}
        self._ends: dict[TopicPartition, int] = {}
        """The offset behind the batch acknowledged last."""

    def note(self, partition: TopicPartition, acknowledged: Acknowledged) -> None:
        if acknowledged.first_offset != UNKNOWN_OFFSET:
            self.overwritten += max(self._ends.get(partition, 0) - acknowledged.first_offset, 0)
            self._ends[partition] = acknowledged.first_offset + acknowledged.count
        entries = self._entries.setdefault(partition, [])
        if entries and (longer := _joined(entries[-1], acknowledged)):
            entries[-1] = longer
        else:
            entries.append(acknowledged)
        self.total += acknowledged.count

    @property
    def entries(self) -> Mapping[TopicPartition, Sequence[Acknowledged]]:
        """All of it, in the order of acknowledgement."""
        return self._entries

    def end_offset(self, partition: TopicPartition) -> int:
        """The offset behind the record acknowledged last."""
        return self._ends.get(partition, 0)


Found = Mapping[TopicPartition, Sequence[tuple[int, int]]]
"""Numbers and offsets of what was read, in the order of the log."""


def compare(ledger: AcknowledgedRecords, found: Found, unread: Mapping[TopicPartition, str]) -> AuditReport:
    """What became of every acknowledged record. Of partitions that could not be read nothing is claimed."""
    lost: list[LostRecords] = []
    twice: list[OddRecord] = []
    late: list[OddRecord] = []
    there = unasked = 0
    for partition in sorted(ledger.entries.keys() | found.keys()):
        if partition in unread:
            continue
        entries = ledger.entries.get(partition, ())
        numbers = found.get(partition, ())
        known = {number for number, _ in numbers}
        acknowledged = {number for each in entries for number in range(each.first_number, _end(each))}
        there += len(known & acknowledged)
        unasked += len(known - acknowledged)
        lost += _lost(partition, entries, known)
        twice += _twice(partition, numbers)
        late += _late(partition, numbers)
    return AuditReport(
        acknowledged=ledger.total,
        found=there,
        lost=sum(each.last_number - each.first_number + 1 for each in lost),
        duplicated=len(twice),
        reordered=len(late),
        unacknowledged_found=unasked,
        lost_records=tuple(lost),
        duplicated_records=tuple(twice[:MOST_SHOWN]),
        reordered_records=tuple(late[:MOST_SHOWN]),
        unread=tuple(f"{partition}: {reason}" for partition, reason in sorted(unread.items())),
    )


def _joined(entry: Acknowledged, following: Acknowledged) -> Acknowledged | None:
    """One entry of two that are one run, acknowledged at the same time; None where they are not."""
    places = (entry.first_offset + entry.count, _end(entry), entry.at_ms)
    if UNKNOWN_OFFSET in (entry.first_offset, following.first_offset) or places != (
        following.first_offset,
        following.first_number,
        following.at_ms,
    ):
        return None
    return msgspec.structs.replace(entry, count=entry.count + following.count)


def _end(entry: Acknowledged) -> int:
    return entry.first_number + entry.count


def _lost(partition: TopicPartition, entries: Sequence[Acknowledged], known: set[int]) -> list[LostRecords]:
    """Runs of numbers that are missing; runs in adjoining batches are one."""
    runs: list[LostRecords] = []
    for entry in entries:
        for number in range(entry.first_number, _end(entry)):
            if number in known:
                continue
            offset = entry.first_offset + number - entry.first_number
            if entry.first_offset == UNKNOWN_OFFSET:
                offset = UNKNOWN_OFFSET
            if runs and runs[-1].last_number == number - 1:
                runs[-1] = msgspec.structs.replace(
                    runs[-1], last_number=number, last_offset=offset, acknowledged_to_ms=entry.at_ms
                )
            else:
                runs.append(
                    LostRecords(
                        partition=str(partition),
                        first_number=number,
                        last_number=number,
                        first_offset=offset,
                        last_offset=offset,
                        acknowledged_from_ms=entry.at_ms,
                        acknowledged_to_ms=entry.at_ms,
                    )
                )
    return runs


def _twice(partition: TopicPartition, numbers: Sequence[tuple[int, int]]) -> list[OddRecord]:
    places: dict[int, list[int]] = {}
    for number, offset in numbers:
        places.setdefault(number, []).append(offset)
    return [
        OddRecord(partition=str(partition), number=number, offsets=tuple(offsets))
        for number, offsets in places.items()
        if len(offsets) > 1
    ]


def _late(partition: TopicPartition, numbers: Sequence[tuple[int, int]]) -> list[OddRecord]:
    """Records behind one with a higher number, where each was seen first."""
    first: dict[int, int] = {}
    for number, offset in numbers:
        first.setdefault(number, offset)
    late: list[OddRecord] = []
    highest = -1
    for number, offset in first.items():
        if number < highest:
            late.append(OddRecord(partition=str(partition), number=number, offsets=(offset,)))
        highest = max(highest, number)
    return late

"""The records that the load writes: each has a number of its own within its partition, and the run it belongs to. Pure.

They look like somebody's orders, so that a look into a log tells something.
"""

import msgspec

from model.log.records.record import Record


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


def numbered_record(run: str, number: int, at_ms: int, *, offset: int = 0) -> Record:
    """A record for a batch."""
    customer = f"customer-{number * 7919 % 1000:03}"
    value = NumberedRecord(run=run, number=number, customer=customer, cents=number * 104_729 % 100_000)
    return Record(offset, at_ms, key=customer.encode(), value=msgspec.json.encode(value))


def number_of(record: Record, run: str) -> int | None:
    """Its number; None for a record of another run, or of somebody else."""
    try:
        identity = _DECODER.decode(record.value or b"")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return identity.number if identity.run == run else None

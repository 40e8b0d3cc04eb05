"""The transactions of a segment that were aborted, for consumers that read committed records only.

`org.apache.kafka.storage.internals.log.TransactionIndex` and `AbortedTxn` (3.9). The file exists once there was one.
"""

from collections.abc import Iterable
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from model.log.errors import DamagedFileError
from model.log.indexes.entries import Buffer
from model.log.indexes.entry_file import EntryFile

_ENTRY = Struct(">hqqqq")
_VERSION = 0
WIDTH = _ENTRY.size


class AbortedTransaction(NamedTuple):
    """`last_offset` is the marker's. `last_stable_offset` is the log's once this transaction is over."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def encode_aborted(aborted: Iterable[AbortedTransaction]) -> bytes:
    """The content of a file."""
    return b"".join(_ENTRY.pack(_VERSION, *each) for each in aborted)


def decode_aborted(data: Buffer) -> list[AbortedTransaction]:
    """The transactions in a file; a partial entry at its end is none. Raises ValueError for a version not known."""
    aborted: list[AbortedTransaction] = []
    for version, *fields in _ENTRY.iter_unpack(data[: len(data) // WIDTH * WIDTH]):
        if version != _VERSION:
            raise ValueError(f"entry {len(aborted)} has version {version}, not {_VERSION}")
        aborted.append(AbortedTransaction(*fields))
    return aborted


class TransactionIndex:
    """The .txnindex file of one segment."""

    def __init__(self, path: Path) -> None:
        """Opens no file yet."""
        self.file = EntryFile(path, WIDTH)

    def aborted(self) -> list[AbortedTransaction]:
        """All of them, in the order of their markers. Raises DamagedFileError."""
        try:
            return decode_aborted(self.file.entries)
        except ValueError as error:
            raise DamagedFileError(self.file.path, str(error)) from None

    def append(self, transaction: AbortedTransaction) -> None:
        """Adds the one that was just aborted."""
        self.file.append(encode_aborted([transaction]))

    def truncate(self, end_offset: int) -> None:
        """Forgets those whose marker lies at `end_offset` or later."""
        if len(self.file):
            self.file.truncate(sum(each.last_offset < end_offset for each in self.aborted()))

    def reset(self) -> None:
        """Removes the file."""
        self.file.close()
        self.file.path.unlink(missing_ok=True)

    def complaint(self, base_offset: int) -> str | None:
        """What is wrong with the file, as Kafka checks it at each start; None when nothing is."""
        try:
            early = [each for each in self.aborted() if each.last_offset < base_offset]
        except DamagedFileError as error:
            return str(error)
        return f"a transaction ends at {early[0].last_offset}, before the segment begins" if early else None

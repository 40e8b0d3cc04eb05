"""The files: grown with zeros while they are active, trimmed when they are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from model.log.indexes import AbortedTransaction, EntryFile, TransactionIndex, encode_aborted
from model.log.names import DamagedFileError
from model.log.producers import SnapshotEntry, decode_snapshot, encode_snapshot


def test_an_active_index_is_as_long_as_it_may_get(tmp_path: Path) -> None:
    index = EntryFile(tmp_path / "0.timeindex", 12)
    index.grow(1000)
    index.append(b"a" * 12)
    assert index.path.read_bytes() == b"a" * 12 + bytes(984)  # a multiple of 12
    index.trim()
    assert index.path.read_bytes() == b"a" * 12
    index.close()
    assert len(EntryFile(index.path, 12)) == 1


def test_a_partial_entry_at_the_end_is_none(tmp_path: Path) -> None:
    path = tmp_path / "0.index"
    path.write_bytes(b"a" * 19)
    index = EntryFile(path, 8)
    assert len(index) == 2
    assert index.entries == b"a" * 16
    index.append(b"b" * 8)
    assert path.read_bytes() == b"a" * 16 + b"b" * 8


def test_truncated_to_some_entries(tmp_path: Path) -> None:
    index = EntryFile(tmp_path / "0.index", 8)
    for letter in b"abc":
        index.append(bytes([letter]) * 8)
    index.truncate(1)
    assert index.path.read_bytes() == b"a" * 8


def test_a_transaction_index_exists_once_something_was_aborted(tmp_path: Path) -> None:
    index = TransactionIndex(tmp_path / "0.txnindex")
    assert index.aborted() == []
    assert not index.file.path.exists()
    aborted = [AbortedTransaction(1, 0, 10, 5), AbortedTransaction(2, 5, 20, 21)]
    for each in aborted:
        index.append(each)
    assert index.file.path.read_bytes() == encode_aborted(aborted)
    assert TransactionIndex(index.file.path).aborted() == aborted
    index.truncate(20)
    assert index.aborted() == aborted[:1]


def test_a_transaction_index_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "0.txnindex"
    path.write_bytes(b"\1" + encode_aborted([AbortedTransaction(1, 0, 10, 5)])[1:])
    with pytest.raises(DamagedFileError, match=r"0\.txnindex: entry 0 has version 256, not 0"):
        TransactionIndex(path).aborted()


def test_a_snapshot() -> None:
    entries = [SnapshotEntry(7, 1, 99, 120, 3, 1_700_000_000_000, -1, -1), SnapshotEntry(8, 0, -1, -1, 0, -1, 4, 50)]
    data = encode_snapshot(entries)
    assert len(data) == 10 + 2 * 46
    assert decode_snapshot(data) == entries
    assert encode_snapshot([]) == b"\0\1\x48\x67\x4b\xc7\0\0\0\0"


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda data: data[:8], "8 bytes are too few"),
        (lambda data: b"\0\x09" + data[2:], "the version is 9, not 1"),
        (lambda data: data[:-1], "the CRC does not match"),
        (lambda data: data + b"\0", "the CRC does not match"),
    ],
)
def test_a_damaged_snapshot_is_refused(damage: Callable[[bytes], bytes], complaint: str) -> None:
    data = encode_snapshot([SnapshotEntry(7, 1, 99, 120, 3, 1_700_000_000_000, -1, -1)])
    with pytest.raises(ValueError, match=complaint):
        decode_snapshot(damage(data))

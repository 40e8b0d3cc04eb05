"""One judgement: whatever `dump-log` calls damaged in a segment's files, a scan calls damaged at the same place."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses.scans.findings import MOST_OF_A_KIND
from model.log.dump.facts import DumpOptions
from model.log.indexes import OFFSET_ENTRY, TIME_ENTRY
from model.log.records import Codec, Damage, Record, encode_batch, encode_message_set
from model.log.records.layout import BATCH_SIZE
from tests.model.log.batches import START_MS
from tests.model.log.dump.dumping import dump
from tests.spark.scans.scanning import scan

BASE = 1000
NAME = f"{BASE:020d}"
TXN_INDEX = "txnindex"
BATCHES = 5
Edit = tuple[str, int, bytes]
"""How, at which byte, and with what."""


def batch(place: int, magic: int = 2, codec: Codec = Codec.NONE, magic_byte: int | None = None) -> bytes:
    """The place-th batch of three records, which rise in time."""
    first = BASE + 3 * place
    records = [Record(offset, START_MS + offset, b"k", b"v") for offset in range(first, first + 3)]
    data = bytearray(encode_batch(records, codec=codec) if magic == 2 else encode_message_set(records, magic, codec))
    data[16] = data[16] if magic_byte is None else magic_byte
    return bytes(data)


def segment(batches: list[bytes]) -> dict[str, bytes]:
    """A whole segment: an entry for each batch but the first in both indexes, and two aborted transactions."""
    ends = [BASE + 3 * place + 2 for place in range(len(batches))]
    starts = [sum(map(len, batches[:place])) for place in range(len(batches))]
    return {
        "log": b"".join(batches),
        "index": b"".join(map(OFFSET_ENTRY.pack, [end - BASE for end in ends[1:]], starts[1:])),
        "timeindex": b"".join(TIME_ENTRY.pack(START_MS + end, end - BASE) for end in ends[1:]),
        TXN_INDEX: b"".join(struct.pack(">hqqqq", 0, 7, end - 2, end, end) for end in ends[1:3]),
    }


def damage_in(files: dict[str, bytes], *, deep: bool = False) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """Files and positions of damage: what dumps tell, and what a scan does."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "t-0"
        folder.mkdir()
        for kind, data in files.items():
            (folder / f"{NAME}.{kind}").write_bytes(data)
        dumped = {
            (kind, damage.position)
            for kind in files
            for damage in told_one_by_one(
                dump(folder / f"{NAME}.{kind}", DumpOptions(deep=deep, contents=deep))[1], kind
            )
        }
        found = {
            (Path(each.path).suffix[1:], -1 if each.position is None else each.position)
            for each in scan(folder, deep=deep).findings
        }
    return dumped, found


def told_one_by_one(damage: list[Damage], file: str) -> list[Damage]:
    """Without those that a scan only counts, for it has told others of their kind; of an index all are of one kind."""
    kinds = [each.kind if file == "log" else None for each in damage]
    return [each for place, each in enumerate(damage) if kinds[:place].count(kinds[place]) < MOST_OF_A_KIND]


def edited(data: bytes, edit: Edit) -> bytes:
    how, at, new = edit
    at %= len(data) + 1
    match how:
        case "overwrite":
            return data[:at] + new + data[at + len(new) :]
        case "insert":
            return data[:at] + new + data[at:]
        case "cut":
            return data[:at]
        case _:
            return data + new


def edits() -> st.SearchStrategy[Edit]:
    new = st.binary(min_size=1, max_size=9) | st.sampled_from([bytes(500), bytes(500) + b"\1" * 12])
    return st.tuples(st.sampled_from(["overwrite", "overwrite", "insert", "cut", "append"]), st.integers(0, 999), new)


KINDS = st.sampled_from([(2, Codec.NONE), (2, Codec.NONE), (2, Codec.GZIP), (1, Codec.GZIP), (0, Codec.SNAPPY)])


@settings(max_examples=150)
@given(
    st.lists(KINDS, min_size=BATCHES, max_size=BATCHES),
    st.lists(st.tuples(st.sampled_from(["log", "index", "timeindex", TXN_INDEX]), edits()), min_size=1, max_size=3),
    st.booleans(),
)
def test_what_a_dump_calls_damaged_a_scan_does_too(
    kinds: list[tuple[int, Codec]], changes: list[tuple[str, Edit]], deep: bool
) -> None:
    files = segment([batch(place, *kind) for place, kind in enumerate(kinds)])
    for kind, edit in changes:
        files[kind] = edited(files[kind], edit)
    dumped, found = damage_in(files, deep=deep)
    assert dumped <= found
    assert {each for each in found - dumped if each[0] != "log"} <= {("index", -1), ("timeindex", -1)}  # notes


def test_nothing_is_wrong_with_a_whole_segment() -> None:
    assert damage_in(segment([batch(place) for place in range(BATCHES)]), deep=True) == (set(), set())


def test_damage_in_the_log_hides_no_damage_of_indexes() -> None:
    files = segment([batch(place) for place in range(BATCHES)])
    lost = len(batch(0))
    files["log"] = edited(files["log"], ("overwrite", lost + 8, b"\xff\xff\xff\xff"))
    expected = {("log", lost), ("index", 0), ("timeindex", 0)}  # the entries of the batch that is lost
    assert damage_in(files) == (expected, expected)
    files["index"] = edited(files["index"], ("overwrite", 24 + 7, b"\xff"))
    files["timeindex"] = edited(files["timeindex"], ("overwrite", 24 + 7, b"\0"))
    files[TXN_INDEX] = edited(files[TXN_INDEX], ("overwrite", 34, b"\1"))
    expected |= {("index", 24), ("timeindex", 24), (TXN_INDEX, 34)}
    assert damage_in(files) == (expected, expected)


def test_a_timestamp_that_damage_may_have_held_is_no_damage_of_the_time_index() -> None:
    files = segment([batch(place) for place in range(BATCHES)])
    files["timeindex"] = TIME_ENTRY.pack(START_MS + BASE + 50, 8)  # of the second batch, says the entry
    assert damage_in(files)[0] == {("timeindex", 0)}
    files["log"] = edited(files["log"], ("overwrite", len(batch(0)) + BATCH_SIZE, b"\xff"))
    expected = {("log", len(batch(0)))}
    assert damage_in(files) == (expected, expected)


def test_bytes_far_behind_the_entries() -> None:
    for kind in ("index", "timeindex"):
        for tail in (bytes(1 << 20) + b"\1" * 24, bytes(1 << 20) + b"\0" * 5):
            files = segment([batch(place) for place in range(BATCHES)])
            files[kind] += tail
            dumped, found = damage_in(files)
            assert dumped == found != set(), (kind, len(tail))


def test_a_magic_that_no_kafka_writes() -> None:
    for magic in (3, 127):
        files = segment([batch(place, magic_byte=magic if place == 1 else None) for place in range(BATCHES)])
        for deep in (False, True):
            expected = {("log", len(batch(0)))}
            assert damage_in(files, deep=deep) == (expected, expected)

"""A .log file as text: what the tool's own texts do not show."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.log.dump.dump_file import BatchFact, log_facts
from model.log.dump.facts import DumpOptions
from model.log.dump.log_text import log_text
from model.log.records import Codec, DamageKind, InMemory, Record, encode_batch, encode_message_set
from model.log.records.layout import BATCH_SIZE
from model.metadata_log.decoder import java_text
from tests.model.log.dump.dumping import DEEP, JSON, dump, lines

NAME = "00000000000000000000.log"
ENTRIES = [
    *(encode_batch([Record(5, 1, b"k", b"v" * 50, ((b"h", b""),)), Record(6)], codec=codec) for codec in Codec),
    *(encode_message_set([Record(5, 1, b"k", b"v" * 50), Record(6)], magic, Codec.GZIP) for magic in (0, 1)),
]


def batch(*offsets: int, value: bytes = b"v", codec: Codec = Codec.NONE) -> bytes:
    return encode_batch([Record(offset, 1000 + offset, b"k", value) for offset in offsets], codec=codec)


def written(folder: Path, data: bytes, name: str = NAME) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def test_after_damage_the_next_batch_is_found(tmp_path: Path) -> None:
    bad = bytearray(batch(1))
    bad[8:12] = b"\xff\xff\xff\xff"
    path = written(tmp_path, batch(0) + bad + batch(2) + batch(3))
    text, (damage,), (gap,) = dump(path)
    assert [line[:10] for line in text.splitlines()[2:]] == [b"baseOffset", b"| offset: "] * 3
    assert (damage.position, damage.size, damage.kind) == (len(batch(0)), len(bad), DamageKind.BAD_LENGTH)
    assert gap.text == "non-consecutive offsets: 0 is followed by 2"


def test_a_length_that_swallows_the_next_batches_is_damage_up_to_them(tmp_path: Path) -> None:
    bad = bytearray(batch(1))
    bad[8:12] = (10**9).to_bytes(4, "big")
    path = written(tmp_path, batch(0) + bad + batch(2))
    text, (damage,), _ = dump(path)
    assert (damage.kind, damage.size) == (DamageKind.TRUNCATED, len(bad))
    assert b"baseOffset: 2 " in text
    assert text.endswith(b"Found %d invalid bytes at the end of %b\n" % (len(bad) + len(batch(2)), NAME.encode()))


def test_a_false_length_whose_crc_fails_swallows_no_sound_batch(tmp_path: Path) -> None:
    """The length is one byte too large, which makes rubbish of what comes next; DumpLogSegments stops there."""
    bad = bytearray(encode_message_set([Record(5, 1, b"k", b"v" * 50), Record(6)], 1, Codec.GZIP))
    bad[11] += 1
    text, damage, _ = dump(written(tmp_path, batch(7) + bad + batch(8)))
    assert [each.kind for each in damage][:1] == [DamageKind.BAD_CRC]
    assert b"baseOffset: 8 " in text
    assert text.endswith(b"Found %d invalid bytes at the end of %b\n" % (len(batch(8)) - 1, NAME.encode()))
    swallowing = bytearray(batch(1))
    swallowing[11] += len(batch(2))
    text, damage, _ = dump(written(tmp_path, batch(0) + swallowing + batch(2) + batch(3)))
    assert [b"baseOffset: %d " % number in text for number in range(4)] == [True] * 4


def test_a_batch_within_a_record_is_no_batch_of_the_log(tmp_path: Path) -> None:
    outer = bytearray(batch(0, value=batch(9)))
    outer[17] ^= 1  # of the CRC
    text, (damage,), _ = dump(written(tmp_path, bytes(outer) + batch(1)))
    assert damage.kind is DamageKind.BAD_CRC
    assert (text.count(b"baseOffset: "), b"baseOffset: 9 " in text) == (2, False)


@pytest.mark.parametrize("options", [DumpOptions(), DEEP, JSON])
@pytest.mark.parametrize("size", [1, 17 << 20])
def test_a_magic_that_no_kafka_writes_is_damage(tmp_path: Path, options: DumpOptions, size: int) -> None:
    """No CRC covers it, and DumpLogSegments calls any sound; consumers and followers refuse it."""
    odd = bytearray(batch(1, value=bytes(size)))
    odd[16] = 3
    text, (damage,), _ = dump(written(tmp_path, batch(0) + odd + batch(2)), options)
    assert (damage.position, damage.size, damage.kind) == (len(batch(0)), len(odd), DamageKind.UNKNOWN_MAGIC)
    assert damage.cause == "magic 3 is no format that any Kafka writes: 0, 1 and 2 are known"
    assert (b'"magic":3' if options.json else b" magic: 3 ") in text
    assert text.count(b'"kind":"batch"' if options.json else b"baseOffset: ") == 3


def test_a_batch_whose_crc_is_wrong_is_shown_all_the_same(tmp_path: Path) -> None:
    data = bytearray(batch(0, 1) + batch(2))
    data[len(batch(0, 1)) - 2] ^= 1
    text, (damage,), _ = dump(written(tmp_path, bytes(data)))
    assert (damage.position, damage.kind) == (0, DamageKind.BAD_CRC)
    assert [b"isvalid: false" in line for line in text.splitlines() if line.startswith(b"base")] == [True, False]
    assert text.count(b"| offset: ") == 3


def test_many_gaps_are_one_remark(tmp_path: Path) -> None:
    path = written(tmp_path, batch(0, 2, 3, 9) + batch(20) + encode_message_set([Record(30)], 1))
    _, damage, (remark,) = dump(path)
    assert not damage
    assert remark.text == "non-consecutive offsets in 4 places, the first: 0 is followed by 2"


def test_zeros_at_the_end_are_told_from_garbage(tmp_path: Path) -> None:
    text, (zeros,), _ = dump(written(tmp_path, batch(0) + bytes(5000)))
    assert (zeros.kind, zeros.size) == (DamageKind.ZEROS, 5000)
    assert b"invalid bytes" not in text  # there the tool dies
    text, (garbage,), _ = dump(written(tmp_path, batch(0) + b"\x01" * 17))
    assert garbage.kind is DamageKind.TRUNCATED
    assert text.endswith(b"Found 17 invalid bytes at the end of " + NAME.encode() + b"\n")


def test_a_bomb_is_named_and_the_rest_is_shown(tmp_path: Path) -> None:
    path = written(tmp_path, batch(0, value=bytes(65 << 20), codec=Codec.ZSTD) + batch(1))
    text, (damage,), _ = dump(path)
    assert damage.kind is DamageKind.TOO_LARGE
    assert b"| offset: 1 " in text


def test_an_unknown_codec_has_a_number(tmp_path: Path) -> None:
    data = bytearray(batch(0))
    data[22] = 6
    text, damage, _ = dump(written(tmp_path, bytes(data)))
    assert b"compresscodec: unknown(6)" in text
    assert {each.kind for each in damage} == {DamageKind.BAD_CRC, DamageKind.UNKNOWN_CODEC}


def test_records_with_percent_signs_and_newlines_come_out_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, encode_batch([Record(n, 0, b"%d%s", b"100%\n%b") for n in range(2)]))
    assert dump(path)[0].count(b" key: %d%s payload: 100%\n%b\n") == 2


def test_untrusted_bytes_go_through_what_makes_them_harmless(tmp_path: Path) -> None:
    path = written(
        tmp_path, encode_batch([Record(0, 0, b"\x1b[2J", b"\x07"), Record(1, 0, None, None, ((b"\x1b", b""),))])
    )
    options = DumpOptions(deep=True, contents=True, show=lambda data: b"<%d>" % len(data))
    assert [line.partition("headerKeys: ")[2] for line in lines(path, options)[2:]] == [
        "[] key: <4> payload: <1>",
        "[<1>]",
    ]


def test_only_deep_iteration_hides_keys_and_payloads(tmp_path: Path) -> None:
    path = written(tmp_path, batch(0))
    assert lines(path, DumpOptions(deep=True))[-1].endswith("keySize: 1 valueSize: 1 sequence: -1 headerKeys: []")
    assert len(lines(path, DumpOptions())) == 2


def test_an_empty_file_and_one_of_emptied_batches(tmp_path: Path) -> None:
    assert lines(written(tmp_path, b"")) == ["Log starting offset: 0"]
    emptied = encode_batch([], base_offset=3, last_offset=5)
    assert len(emptied) == BATCH_SIZE
    assert len(lines(written(tmp_path, emptied * 2), DEEP)) == 3


def test_a_file_that_is_to_be_deleted_is_still_a_log(tmp_path: Path) -> None:
    path = written(tmp_path, batch(7), "00000000000000000007.log.deleted")
    assert lines(path)[0] == "Log starting offset: 7"


def test_a_name_without_an_offset(tmp_path: Path) -> None:
    text, _, (remark,) = dump(written(tmp_path, batch(7), "rescued.log"))
    assert b"Log starting offset: 0\n" in text
    assert "no base offset" in remark.text


@settings(max_examples=200)
@example(entry=ENTRIES[-2], at=11, junk=b"\x99", copies=2)
@example(entry=ENTRIES[-2], at=11, junk=b"G", copies=1)
@given(entry=st.sampled_from(ENTRIES), at=st.integers(0, 120), junk=st.binary(max_size=120), copies=st.integers(1, 3))
def test_any_damage_is_shown_or_named(entry: bytes, at: int, junk: bytes, copies: int) -> None:
    """Whatever is between two sound batches, both are shown."""
    sound = batch(7)
    data = sound + (entry[:at] + junk + entry[at + len(junk) :]) * copies + sound
    text = b"".join(part for part in log_text(InMemory(data), "x", DEEP) if isinstance(part, bytes))
    assert text.startswith(b"baseOffset: 7 ")
    assert b"position: %d " % (len(data) - len(sound)) in text or text.count(b"baseOffset") > 1
    facts = list(log_facts(InMemory(data), DEEP))
    assert sum(isinstance(fact, BatchFact) for fact in facts) == text.count(b" isvalid: ")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xed\xa0\x80", "\ufffd"),
        (b"\xed\xa0", "\ufffd"),
        (b"\xed\xa0\x80\xed\xb0\x80x", "\ufffd\ufffdx"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xf0\x9f\x98a", "\ufffda"),
        (b"\xc0\xaf\xff", "\ufffd\ufffd\ufffd"),
        ("é中😀".encode(), "é中😀"),
    ],
)
def test_malformed_utf8_is_marked_as_java_does(data: bytes, text: str) -> None:
    assert java_text(data) == text

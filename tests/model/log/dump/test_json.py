"""kdrill.dump-log/1: one object a line, whatever the file."""

from __future__ import annotations

from pathlib import Path

from model.log.dump.facts import DumpOptions
from model.log.records import (
    Codec,
    EndTransactionMarker,
    Producer,
    Record,
    encode_batch,
    encode_message_set,
)
from tests.model.log.batches import encode_end_transaction_marker
from tests.model.log.dump.dumping import JSON, dump, json_lines
from tests.segment_corpus import logs


def test_a_log(tmp_path: Path) -> None:
    producer = Producer(9, 2, 5, transactional=True)
    sent = encode_batch(
        [Record(7, 100, b"k", b"\xff", ((b"h", None),)), Record(8, 101)], producer=producer, leader_epoch=3
    )
    marker = encode_end_transaction_marker(EndTransactionMarker(True, 4), producer, offset=9, timestamp=102)
    path = tmp_path / "00000000000000000007.log"
    path.write_bytes(sent + marker)
    head, batch, first, second, control, mark, end = json_lines(path)
    assert head == {
        "kind": "file",
        "format": "kdrill.dump-log/1",
        "path": str(path),
        "type": "log",
        "base_offset": 7,
        "size": len(sent + marker),
    }
    assert (batch["kind"], batch["base_offset"], batch["count"], batch["codec"]) == ("batch", 7, 2, "none")
    assert (batch["producer_id"], batch["last_sequence"], batch["transactional"]) == (9, 6, True)
    assert (first["key"], first["value"], first["headers"]) == ("k", {"base64": "/w=="}, [["h", None]])
    assert (second["offset"], second["key_size"], second["sequence"]) == (8, -1, 6)
    assert "key" not in second
    assert (control["control"], mark["control"]) == (True, "endTxnMarker: COMMIT coordinatorEpoch: 4")
    assert end == {"kind": "end", "entries": 5, "damaged": 0}


def test_damage_is_a_line_and_told(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(encode_message_set([Record(0, 5, b"k", b"v")], 1, Codec.GZIP)[:-1])
    (*_, line, end), (damage,) = json_lines(path), dump(path, JSON)[1]
    assert (line["kind"], line["position"], line["damage"], line["cause"]) == ("damage", 0, "truncated", damage.cause)
    assert end["damaged"] == 1


def test_only_what_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(encode_batch([Record(0, 5, b"k", b"v")]))
    assert [line["kind"] for line in json_lines(path, DumpOptions(json=True))] == ["file", "batch", "end"]
    record = json_lines(path, DumpOptions(json=True, deep=True))[2]
    assert (record["key_size"], "key" in record) == (1, False)


def test_every_file_of_the_corpus(corpus: Path) -> None:
    """As many batches and records as the text has lines, and all of it in ASCII."""
    for path in logs(corpus):
        text, damage, _ = dump(path)
        out, same_damage, _ = dump(path, JSON)
        assert out.isascii()
        assert same_damage == damage
        kinds = [line["kind"] for line in json_lines(path)]
        assert kinds.count("batch") == text.count(b" isvalid: ")
        assert kinds.count("record") == text.count(b"| offset: ")

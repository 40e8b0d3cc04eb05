"""What real controllers wrote, read and written again, is the same to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.log.records import Record, RecordBatch, records_of, scan
from model.metadata_log.decoder import Decoded, decode
from model.metadata_log.encoder import encode_record, uvarint

FILES = sorted(path for kind in ("*.log", "*.checkpoint") for path in Path("tests/data/kraft").rglob(kind))


@pytest.mark.parametrize("path", FILES, ids=str)
def test_records_of_real_controllers(path: Path) -> None:
    data, count = path.read_bytes(), 0
    for batch in scan(data):
        assert isinstance(batch, RecordBatch)
        for record in records_of(data, batch):
            assert isinstance(record, Record)
            if batch.is_control:
                continue
            found = decode(record.value, with_secrets=True)
            assert isinstance(found, Decoded)
            assert encode_record(found.schema.name, found.version, found.fields) == record.value
            count += 1
    assert count or "0-0000000000" in path.name


def test_what_is_left_out_has_its_default() -> None:
    fenced = encode_record("BrokerRegistrationChangeRecord", 1, {"brokerId": 3, "brokerEpoch": 7, "fenced": 1})
    assert decode(fenced) == decode(
        encode_record(
            "BrokerRegistrationChangeRecord",
            1,
            {"brokerId": 3, "brokerEpoch": 7, "fenced": 1, "inControlledShutdown": 0},
        )
    )
    with pytest.raises(KeyError):
        encode_record("TopicRecord", 0, {"name": "t"})


@pytest.mark.parametrize(("number", "told"), [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02")])
def test_numbers_of_seven_bits(number: int, told: str) -> None:
    assert uvarint(number).hex() == told

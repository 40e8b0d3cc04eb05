"""What logs of real controllers come to is what those controllers wrote as their snapshots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model.kraft_controller.compacted import CompactedLog
from model.log.records import Record, RecordBatch, records_of, scan
from model.metadata_log.decoder import Decoded, decode
from model.metadata_log.encoder import encode_record

DATA = Path("tests/data/kraft")
SNAPSHOTS = sorted(path for path in DATA.glob("*/*.checkpoint") if not path.name.startswith("0" * 20))
ID = "MkU3OEVBNTcwNTJENDM2Qg"


def recorded(data: bytes) -> Iterator[tuple[int, bytes]]:
    for batch in scan(data):
        assert isinstance(batch, RecordBatch)
        for record in () if batch.is_control else records_of(data, batch):
            assert isinstance(record, Record) and record.value is not None
            yield record.offset, record.value


def compacted(records: Iterator[tuple[int, bytes]], end: int) -> CompactedLog:
    log = CompactedLog()
    for offset, value in records:
        if offset < end:
            log.take(value, offset)
    return log


def said(value: bytes) -> str:
    found = decode(value, with_secrets=True)
    assert isinstance(found, Decoded)
    fields: dict[str, Any] = {name: each for name, each in found.fields.items() if each}
    for name in fields.keys() & {"features", "endPoints"}:  # of hash tables
        fields[name] = sorted(fields[name], key=str)
    return f"{found.schema.name} {found.version} {fields}"


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_real_logs_come_to_the_snapshots_that_were_made_of_them(snapshot: Path) -> None:
    log = snapshot.with_name(f"{0:020d}.log").read_bytes()
    end = int(re.split("-", snapshot.stem)[0])
    ours = compacted(recorded(log), end)
    theirs = [value for _, value in recorded(snapshot.read_bytes())]
    assert ours.trouble == ""
    assert sorted(map(said, ours.records())) == sorted(map(said, theirs))
    assert sorted(map(len, ours.records())) == sorted(map(len, theirs))
    again = compacted(iter(enumerate(ours.records())), len(theirs))
    assert again.records() == ours.records()
    assert sorted(ours.others() + ours.placed()) == sorted(ours.records())


def taken(*records: tuple[str, int, dict[str, Any]]) -> CompactedLog:
    log = CompactedLog()
    for offset, record in enumerate(records):
        log.take(encode_record(*record), offset)
    return log


LEVEL = ("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 25})
TOPIC = ("TopicRecord", 0, {"name": "t", "topicId": ID})
PARTITION: dict[str, Any] = {
    **{"partitionId": 0, "topicId": ID, "replicas": [1, 2], "isr": [], "removingReplicas": [], "addingReplicas": []},
    **{"leader": -1, "leaderEpoch": 3, "partitionEpoch": 7, "directories": [ID, ID]},
}
BEGIN, END, ABORT = (
    (f"{what}TransactionRecord", 0, {})
    for what in ("Begin", "End", "Abort")
)  # fmt: skip


def test_what_a_transaction_wrote_counts_once_it_ends() -> None:
    assert taken(LEVEL, BEGIN, TOPIC).is_in_transaction
    assert taken(LEVEL, BEGIN, TOPIC).topic_ids == {} == taken(LEVEL, BEGIN, TOPIC, ABORT).topic_ids
    ended = taken(LEVEL, BEGIN, TOPIC, END)
    assert (ended.topic_ids, ended.is_in_transaction) == ({"t": ID}, False)


def test_a_topic_that_is_removed_takes_its_settings_along() -> None:
    settings = [
        ("ConfigRecord", 0, {"resourceType": kind, "resourceName": "t", "name": "a", "value": "1"}) for kind in (2, 4)
    ]
    log = taken(LEVEL, TOPIC, ("PartitionRecord", 2, PARTITION), *settings, ("RemoveTopicRecord", 0, {"topicId": ID}))
    assert [said(each).split()[0] for each in log.records()] == ["FeatureLevelRecord", "ConfigRecord"]
    assert log.trouble == ""


def test_clearing_the_elr_raises_partition_epochs_where_there_is_any() -> None:
    eligible = ("PartitionRecord", 2, {**PARTITION, "eligibleLeaderReplicas": [2], "lastKnownElr": [1]})
    clear = ("ClearElrRecord", 0, {"topicName": "t"})
    cleared = taken(LEVEL, TOPIC, eligible, clear, clear).placed()[1]
    assert cleared == encode_record("PartitionRecord", 2, {**PARTITION, "partitionEpoch": 8})
    other = ("ClearElrRecord", 0, {"topicName": "u"})
    assert taken(LEVEL, TOPIC, eligible, other).placed()[1] == encode_record(*eligible)


def test_who_is_unregistered_and_which_records_nobody_can_merge() -> None:
    broker: dict[str, Any] = {"brokerId": 7, "incarnationId": ID, "brokerEpoch": 1, "endPoints": [], "features": []}
    registered = ("RegisterBrokerRecord", 3, {**broker, "isMigratingZkBroker": False, "rack": None, "fenced": True,
                                              "inControlledShutdown": False})  # fmt: skip
    change = ("BrokerRegistrationChangeRecord", 1, {"brokerId": 7, "brokerEpoch": 1, "fenced": -1})
    log = taken(LEVEL, registered, change)
    assert log.registered_at == {7: 1}
    assert "'fenced'" not in said(log.others()[1])
    gone = taken(LEVEL, registered, ("UnregisterBrokerRecord", 0, {"brokerId": 7, "brokerEpoch": 1}))
    assert (gone.registered_at, len(gone.records()), gone.trouble) == ({}, 1, "")
    assert taken(LEVEL, change).trouble == "the record at offset 1 changes 7, which is not there"
    log.take(b"\1\x7f\0", 9)
    assert log.trouble == "the record at offset 9 cannot be read"

"""What is decided is written as real controllers wrote it, in the version of their level."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import (
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    ConfigWritten,
    ElrCleared,
    FeatureWritten,
    MetadataRecord,
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
    TopicRemoved,
)
from model.kraft_controller.partition_change import PartitionChange, Registration
from model.kraft_controller.written import framed, registration_version
from model.metadata_log.decoder import Decoded, decode
from tests.model.kraft_controller.replayed import registration
from tests.model.metadata_log.kept import LOG, values

DATA = Path("tests/data/kraft")
LEVELS = {"3.3.2": 7, "3.5.2": 11, "3.7.2": 19, "3.9.1": 21, "4.0.0": 25, "4.1.0": 27, "4.4.0": 33, "4.4.0-quorum": 33}
ENTITIES = {2: "topics/{}", 4: "brokers/{}"}
NOWHERE = Registration((), (), -1)


def brokers(fields: dict[str, Any], name: str) -> Any:
    found = fields.get(name)
    return None if found is None else tuple(found)


def broker_changed(fields: dict[str, Any]) -> BrokerChanged:
    fenced, leaving = fields.get("fenced", 0), fields.get("inControlledShutdown", 0) > 0
    return BrokerChanged(
        fields["brokerId"],
        fenced > 0 if fenced else None,
        leaving or None,
        brokers(fields, "logDirs") or None,
        brokers(fields, "cordonedLogDirs"),
    )


def decided(kind: str, fields: dict[str, Any], topics: dict[str, str]) -> MetadataRecord | None:
    """What a controller must have decided to write this; None where it says more than is decided."""
    names = {id_: name for name, id_ in topics.items()}
    match kind:
        case "TopicRecord":
            return TopicCreated(fields["name"])
        case "RemoveTopicRecord":
            return TopicRemoved(names[fields["topicId"]])
        case "PartitionRecord":
            return PartitionCreated(
                TopicPartition(names[fields["topicId"]], fields["partitionId"]), registration(fields)
            )
        case "PartitionChangeRecord":
            change = PartitionChange(
                leader=fields.get("leader"),
                isr=brokers(fields, "isr"),
                replicas=brokers(fields, "replicas"),
                removing=brokers(fields, "removingReplicas"),
                adding=brokers(fields, "addingReplicas"),
                elr=brokers(fields, "eligibleLeaderReplicas"),
                last_known_elr=brokers(fields, "lastKnownElr"),
                recovering=fields["leaderRecoveryState"] > 0 if "leaderRecoveryState" in fields else None,
                directories=brokers(fields, "directories"),
            )
            return PartitionChanged(TopicPartition(names[fields["topicId"]], fields["partitionId"]), NOWHERE, change)
        case "BrokerRegistrationChangeRecord":
            return broker_changed(fields)
        case "UnregisterBrokerRecord":
            return BrokerUnregistered(fields["brokerId"])
        case "ConfigRecord":
            entity = ENTITIES[fields["resourceType"]].format(fields["resourceName"] or "<default>")
            return ConfigWritten(entity, fields["name"], fields["value"])
        case "ClearElrRecord":
            return ElrCleared(fields["topicName"])
        case "FeatureLevelRecord":
            return FeatureWritten(fields["name"], fields["featureLevel"])
        case _:
            return None


def real(name: str) -> Iterator[tuple[bytes, str, int, dict[str, Any]]]:
    for value in values(DATA / name / LOG):
        found = decode(value, with_secrets=True)
        assert isinstance(found, Decoded)
        yield value, found.schema.name, found.version, dict(found.fields)


@pytest.mark.parametrize("name", LEVELS)
def test_records_of_real_controllers(name: str) -> None:
    topics: dict[str, str] = {}
    epochs: dict[int, int] = {}
    count = 0
    for value, kind, version, fields in real(name):
        if kind == "TopicRecord":
            topics[fields["name"]] = fields["topicId"]
        if kind == "RegisterBrokerRecord":
            epochs[fields["brokerId"]] = fields["brokerEpoch"]
            assert version == registration_version(LEVELS[name])
        record = decided(kind, fields, topics)
        if record is not None and fields.get("resourceType", 2) in ENTITIES:
            assert framed(record, LEVELS[name], topics, epochs) == value, (kind, fields)
            count += 1
    assert count > 10


def test_a_registration_says_more_than_is_decided() -> None:
    with pytest.raises(TypeError, match="BrokerRegistered"):
        framed(BrokerRegistered(1, 5), 33, {}, {})

"""What a controller decided, as records of the metadata log in the versions of its metadata.version.

Source: `org.apache.kafka.server.common.MetadataVersion` (`registerBrokerRecordVersion` and its like), 3.3 to 4.4.
"""

from collections.abc import Mapping
from typing import Any, Final

from model.kraft_controller.cluster import (
    EVERY_BROKER,
    BrokerChanged,
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
from model.metadata_log.encoder import encode_record

_REGISTERED_WITH: Final = (7, 8, 17, 30)
_PARTITIONS_WITH: Final = (17, 23)
"""Levels from which on a record has its next version."""
_RESOURCES: Final = {"topics": 2, "brokers": 4, "client-metrics": 16, "groups": 32}
Named = tuple[str, int, Mapping[str, Any]]
"""A record's type, its version, its fields."""


def registration_version(level: int) -> int:
    """Of a RegisterBrokerRecord."""
    return _version(_REGISTERED_WITH, level)


def partition_version(level: int) -> int:
    """Of a PartitionRecord, and of its changes."""
    return _version(_PARTITIONS_WITH, level)


def _version(steps: tuple[int, ...], level: int) -> int:
    return sum(level >= step for step in steps)


def framed(record: MetadataRecord, level: int, topic_ids: Mapping[str, str], epochs: Mapping[int, int]) -> bytes:
    """Its bytes. `epochs`: of registered brokers. Raises TypeError for a registration: it says more than is decided."""
    return encode_record(*_named(record, level, topic_ids, epochs))


def _named(record: MetadataRecord, level: int, topic_ids: Mapping[str, str], epochs: Mapping[int, int]) -> Named:
    match record:
        case PartitionChanged(partition):
            place = {"partitionId": partition.partition, "topicId": topic_ids[partition.topic]}
            return "PartitionChangeRecord", partition_version(level), {**place, **_change(record)}
        case PartitionCreated(partition):
            place = {"partitionId": partition.partition, "topicId": topic_ids[partition.topic]}
            return "PartitionRecord", partition_version(level), {**place, **_registration(record)}
        case BrokerChanged(broker):
            version = 2 if record.directories is not None else int(record.in_controlled_shutdown is not None)
            cordoned = {} if record.cordoned is None else {"cordonedLogDirs": list(record.cordoned)}
            version = 3 if cordoned else version
            return "BrokerRegistrationChangeRecord", version, {
                "brokerId": broker, "brokerEpoch": epochs[broker],
                "fenced": 0 if record.fenced is None else 1 if record.fenced else -1,
                "inControlledShutdown": int(bool(record.in_controlled_shutdown)),
                "logDirs": list(record.directories or ()),
                **cordoned,
            }  # fmt: skip
        case BrokerUnregistered(broker):
            return "UnregisterBrokerRecord", 0, {"brokerId": broker, "brokerEpoch": epochs[broker]}
        case TopicCreated(topic):
            return "TopicRecord", 0, {"name": topic, "topicId": topic_ids[topic]}
        case TopicRemoved(topic):
            return "RemoveTopicRecord", 0, {"topicId": topic_ids[topic]}
        case ConfigWritten(entity, key, value):
            kind, _, name = entity.partition("/")
            about = {"resourceType": _RESOURCES[kind], "resourceName": "" if entity == EVERY_BROKER else name}
            return "ConfigRecord", 0, {**about, "name": key, "value": value}
        case ElrCleared(topic):
            return "ClearElrRecord", 0, {"topicName": topic}
        case FeatureWritten(feature, at):
            return "FeatureLevelRecord", 0, {"name": feature, "featureLevel": at}
        case _:
            raise TypeError(f"{type(record).__name__} says more than is decided")


def _change(record: PartitionChanged) -> Mapping[str, Any]:
    change = record.change
    lists = {
        "isr": change.isr,
        "replicas": change.replicas,
        "removingReplicas": change.removing,
        "addingReplicas": change.adding,
        "eligibleLeaderReplicas": change.elr,
        "lastKnownElr": change.last_known_elr,
        "directories": change.directories,
    }
    told: dict[str, Any] = {name: list(value) for name, value in lists.items() if value is not None}
    if change.leader is not None:
        told["leader"] = change.leader
    if change.recovering is not None:
        told["leaderRecoveryState"] = int(change.recovering)
    return told


def _registration(record: PartitionCreated) -> Mapping[str, Any]:
    made = record.registration
    return {
        "replicas": list(made.replicas),
        "isr": list(made.isr),
        "removingReplicas": list(made.removing),
        "addingReplicas": list(made.adding),
        "leader": made.leader,
        "leaderRecoveryState": int(made.recovering),
        "leaderEpoch": made.leader_epoch,
        "partitionEpoch": made.partition_epoch,
        "directories": list(made.directories),
    }

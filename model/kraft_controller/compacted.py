"""What the records of a metadata log come to: those of a snapshot, as bytes.

Changes are merged into the record that they change; of all other records on one thing the last counts, with the bytes
that it came in. Sources: `org.apache.kafka.image.MetadataImage.write`, `PartitionRegistration.merge`,
`BrokerRegistration.cloneWith` (4.3).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from model.cluster.ids import METADATA_VERSION
from model.kraft_controller.partition_change import MIGRATING
from model.kraft_controller.written import partition_version, registration_version
from model.metadata_log.decoder import Decoded, decode
from model.metadata_log.encoder import encode_record

_KEPT_LEADER, _KEPT_STATE = -2, -1
"""What a PartitionChangeRecord has where these stay as they are."""
_KINDS: Final = (
    *("FeatureLevelRecord", "RegisterBrokerRecord", "RegisterControllerRecord", "ConfigRecord", "ClientQuotaRecord"),
    *("ProducerIdsRecord", "AccessControlEntryRecord", "UserScramCredentialRecord", "DelegationTokenRecord"),
    "ZkMigrationStateRecord",
)
"""Beside topics, in the order of a snapshot; topics stand behind controllers."""
_BEFORE_TOPICS: Final = 3
_BEGIN, _END, _ABORT = "BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord"


class _Topic(NamedTuple):
    name: str
    record: bytes
    partitions: dict[int, bytes]


class CompactedLog:
    """All records up to some offset. What an open transaction wrote counts once it ends."""

    def __init__(self) -> None:
        self.registered_at: dict[int, int] = {}
        """Broker → the offset of the record that registered it."""
        self.trouble = ""
        """Why no snapshot may be made: what could not be read, one clause."""
        self._kept: dict[str, dict[Any, bytes]] = {kind: {} for kind in _KINDS}
        self._topics: dict[str, _Topic] = {}
        self._level = 0
        self._held: list[tuple[Decoded, bytes, int]] | None = None

    @property
    def is_in_transaction(self) -> bool:
        """Whether one is open: nowhere within may a snapshot end."""
        return self._held is not None

    @property
    def is_new(self) -> bool:
        """Whether nobody has said yet which metadata.version holds."""
        return not self._level

    @property
    def level(self) -> int:
        """The metadata.version; 0: nobody has said it."""
        return self._level

    def controller(self, controller: int) -> Mapping[str, Any] | None:
        """What a controller said of itself when it registered last."""
        value = self._kept["RegisterControllerRecord"].get((controller,))
        return None if value is None else _fields(value)

    @property
    def topic_ids(self) -> dict[str, str]:
        """Name → id."""
        return {topic.name: id_ for id_, topic in self._topics.items()}

    def directories(self, topic_id: str, partition: int) -> tuple[str, ...]:
        """Of its replicas; of none it is known before metadata.version 3.7-IV2."""
        fields = _fields(self._topics[topic_id].partitions[partition])
        return tuple(fields.get("directories") or [MIGRATING] * len(fields["replicas"]))

    def placed(self) -> list[bytes]:
        """Records of topics, each before its partitions."""
        return [
            record
            for topic in self._topics.values()
            for record in (topic.record, *(topic.partitions[number] for number in sorted(topic.partitions)))
        ]

    def others(self) -> list[bytes]:
        """All other records."""
        return [*self._of(_KINDS[:_BEFORE_TOPICS]), *self._of(_KINDS[_BEFORE_TOPICS:])]

    def records(self) -> list[bytes]:
        """Those of a snapshot."""
        return [*self._of(_KINDS[:_BEFORE_TOPICS]), *self.placed(), *self._of(_KINDS[_BEFORE_TOPICS:])]

    def _of(self, kinds: Iterable[str]) -> list[bytes]:
        """What other features mean depends on metadata.version: it comes first."""
        features = self._kept["FeatureLevelRecord"]
        first = [features[METADATA_VERSION]] if "FeatureLevelRecord" in kinds and METADATA_VERSION in features else []
        return first + [
            record
            for kind in kinds
            for key, record in self._kept[kind].items()
            if (kind, key) != ("FeatureLevelRecord", METADATA_VERSION)
        ]

    def take(self, value: bytes | None, offset: int) -> None:
        """The next record of the log, or one of a snapshot that ends at `offset` + 1."""
        found = decode(value, with_secrets=True)
        if not isinstance(found, Decoded) or value is None:
            self.trouble = self.trouble or f"the record at offset {offset} cannot be read"
            return
        name = found.schema.name
        if name in (_BEGIN, _END, _ABORT):
            held, self._held = self._held, [] if name == _BEGIN else None
            for each in held or () if name == _END else ():
                self._apply(*each)
        elif self._held is not None:
            self._held.append((found, value, offset))
        else:
            self._apply(found, value, offset)

    def _apply(self, found: Decoded, value: bytes, offset: int) -> None:
        fields: Mapping[str, Any] = found.fields
        apply = _APPLY.get(found.schema.name)
        if apply is None:
            self.trouble = self.trouble or f"the record at offset {offset} is a {found.schema.name}, an unknown one"
            return
        try:
            apply(self, fields, value)
        except KeyError as missing:
            self.trouble = self.trouble or f"the record at offset {offset} changes {missing}, which is not there"
        if found.schema.name == "RegisterBrokerRecord":
            self.registered_at[fields["brokerId"]] = offset

    # One method for each way that records count.

    def keep(self, kind: str, key: object, value: bytes | None) -> None:
        """The newest on one thing; None: it is gone."""
        if value is None:
            self._kept[kind].pop(key, None)
        else:
            self._kept[kind][key] = value

    def set_level(self, fields: Mapping[str, Any], value: bytes) -> None:
        if fields["name"] == METADATA_VERSION:
            self._level = fields["featureLevel"]
        self.keep("FeatureLevelRecord", fields["name"], value if fields["featureLevel"] else None)

    def change_broker(self, broker: int, changed: Mapping[str, Any]) -> None:
        before = _fields(self._kept["RegisterBrokerRecord"][broker])
        after = encode_record("RegisterBrokerRecord", registration_version(self._level), {**_NEW, **before, **changed})
        self.keep("RegisterBrokerRecord", broker, after)

    def unregister(self, broker: int) -> None:
        self.keep("RegisterBrokerRecord", broker, None)
        self.registered_at.pop(broker, None)

    def create_topic(self, fields: Mapping[str, Any], value: bytes) -> None:
        self._topics[fields["topicId"]] = _Topic(fields["name"], value, {})

    def remove_topic(self, id_: str) -> None:
        """Its settings go with it."""
        name, configs = self._topics.pop(id_).name, self._kept["ConfigRecord"]
        self._kept["ConfigRecord"] = {key: value for key, value in configs.items() if key[:2] != (2, name)}

    def place(self, fields: Mapping[str, Any], value: bytes) -> None:
        self._topics[fields["topicId"]].partitions[fields["partitionId"]] = value

    def change_partition(self, id_: str, number: int, changed: Mapping[str, Any]) -> None:
        partitions = self._topics[id_].partitions
        after = _merged(_fields(partitions[number]), changed)
        partitions[number] = encode_record("PartitionRecord", partition_version(self._level), after)

    def clear_elr(self, name: str) -> None:
        """Of all topics where none is named."""
        for id_, topic in self._topics.items():
            for number, record in topic.partitions.items() if name in ("", topic.name) else ():
                fields = _fields(record)
                if fields.get("eligibleLeaderReplicas") or fields.get("lastKnownElr"):
                    self.change_partition(id_, number, {"eligibleLeaderReplicas": [], "lastKnownElr": []})


_NEW: Final[Mapping[str, Any]] = {"inControlledShutdown": False, "isMigratingZkBroker": False}
"""What older RegisterBrokerRecords do not say."""


def _fields(value: bytes) -> Mapping[str, Any]:
    found = decode(value, with_secrets=True)
    assert isinstance(found, Decoded), "it was read before"
    return found.fields


_SET_WHERE_TOLD: Final = (
    *("isr", "replicas", "removingReplicas", "addingReplicas"),
    *("eligibleLeaderReplicas", "lastKnownElr"),
)


def _merged(before: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: changed[name] for name in _SET_WHERE_TOLD if changed.get(name) is not None}
    after = {**before, **told, "partitionEpoch": before["partitionEpoch"] + 1}
    if (leader := changed.get("leader", _KEPT_LEADER)) != _KEPT_LEADER:
        after |= {"leader": leader, "leaderEpoch": before["leaderEpoch"] + 1}
    if (state := changed.get("leaderRecoveryState", _KEPT_STATE)) != _KEPT_STATE:
        after["leaderRecoveryState"] = state
    known = before.get("directories") if changed.get("replicas") is None else None
    after["directories"] = changed.get("directories") or known or [MIGRATING] * len(after["replicas"])
    for name in ("eligibleLeaderReplicas", "lastKnownElr"):
        if not after.get(name):
            after.pop(name, None)
    return after


def _change_broker(log: CompactedLog, fields: Mapping[str, Any], _: bytes) -> None:
    changed: dict[str, Any] = {}
    if fields.get("fenced"):
        changed["fenced"] = fields["fenced"] > 0
    if fields.get("inControlledShutdown"):
        changed["inControlledShutdown"] = True
    if fields.get("logDirs"):
        changed["logDirs"] = fields["logDirs"]
    if fields.get("cordonedLogDirs") is not None:
        changed["cordonedLogDirs"] = fields["cordonedLogDirs"]
    log.change_broker(fields["brokerId"], changed)


def _set_quota(log: CompactedLog, fields: Mapping[str, Any], value: bytes) -> None:
    entity = tuple(sorted((each["entityType"], each["entityName"] or "", each["entityName"] is None)
                          for each in fields["entity"]))  # fmt: skip
    log.keep("ClientQuotaRecord", (entity, fields["key"]), None if fields["remove"] else value)


def _producer_ids(log: CompactedLog, fields: Mapping[str, Any], _: bytes) -> None:
    """Whom the newest were handed out to is nothing that lasts."""
    told = {"brokerId": -1, "brokerEpoch": -1, "nextProducerId": fields["nextProducerId"]}
    log.keep("ProducerIdsRecord", None, encode_record("ProducerIdsRecord", 0, told))


def _config(log: CompactedLog, fields: Mapping[str, Any], value: bytes) -> None:
    key = fields["resourceType"], fields["resourceName"], fields["name"]
    log.keep("ConfigRecord", key, None if fields["value"] is None else value)


_Apply = Callable[[CompactedLog, Mapping[str, Any], bytes], None]


def _kept_as(kind: str, *names: str, gone: bool = False) -> _Apply:
    def apply(log: CompactedLog, fields: Mapping[str, Any], value: bytes) -> None:
        log.keep(kind, tuple(fields[name] for name in names), None if gone else value)

    return apply


_APPLY: Final[Mapping[str, _Apply]] = {
    "NoOpRecord": lambda log, fields, value: None,
    "FeatureLevelRecord": lambda log, fields, value: log.set_level(fields, value),
    "RegisterBrokerRecord": lambda log, fields, value: log.keep("RegisterBrokerRecord", fields["brokerId"], value),
    "UnregisterBrokerRecord": lambda log, fields, _: log.unregister(fields["brokerId"]),
    "BrokerRegistrationChangeRecord": _change_broker,
    "FenceBrokerRecord": lambda log, fields, _: log.change_broker(fields["id"], {"fenced": True}),
    "UnfenceBrokerRecord": lambda log, fields, _: log.change_broker(fields["id"], {"fenced": False}),
    "RegisterControllerRecord": _kept_as("RegisterControllerRecord", "controllerId"),
    "UnregisterControllerRecord": _kept_as("RegisterControllerRecord", "controllerId", gone=True),
    "TopicRecord": lambda log, fields, value: log.create_topic(fields, value),
    "RemoveTopicRecord": lambda log, fields, _: log.remove_topic(fields["topicId"]),
    "PartitionRecord": lambda log, fields, value: log.place(fields, value),
    "PartitionChangeRecord": lambda log, fields, _: log.change_partition(
        fields["topicId"], fields["partitionId"], fields
    ),
    "ClearElrRecord": lambda log, fields, _: log.clear_elr(fields["topicName"]),
    "ConfigRecord": _config,
    "ClientQuotaRecord": _set_quota,
    "ProducerIdsRecord": _producer_ids,
    "AccessControlEntryRecord": _kept_as("AccessControlEntryRecord", "id"),
    "RemoveAccessControlEntryRecord": _kept_as("AccessControlEntryRecord", "id", gone=True),
    "UserScramCredentialRecord": _kept_as("UserScramCredentialRecord", "name", "mechanism"),
    "RemoveUserScramCredentialRecord": _kept_as("UserScramCredentialRecord", "name", "mechanism", gone=True),
    "DelegationTokenRecord": _kept_as("DelegationTokenRecord", "tokenId"),
    "RemoveDelegationTokenRecord": _kept_as("DelegationTokenRecord", "tokenId", gone=True),
    "ZkMigrationStateRecord": _kept_as("ZkMigrationStateRecord"),
}
"""By name of the record."""

"""What an active controller knows: all that its log says, what it is about to write included, and who is alive.

Built of what the log comes to when its voter is elected; from then on each batch that it writes is taken in before it
is committed, as in Kafka's own. Whoever leads no more throws it away.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.hosts.wire.names import topic_id_text
from model.kraft_controller.acls import Rule
from model.kraft_controller.cluster import BrokerChanged, BrokerRegistered, KraftCluster, MetadataRecord, TopicCreated
from model.kraft_controller.compacted import CompactedLog
from model.kraft_controller.heartbeats import HeartbeatTable
from model.kraft_controller.written import framed
from model.metadata_log.decoder import Decoded, decode
from model.metadata_log.encoder import encode_record
from model.metadata_log.partition_records import Values
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.observer.messages import UNKNOWN

PRODUCER_IDS = 1_000
"""So many are handed out at once."""


class TermState:
    """Of one term as active controller."""

    def __init__(self, log: CompactedLog, cluster_id: str, end: int) -> None:
        """`log` goes on with what is committed. `end`: the offset that the log's next record has."""
        self.cluster_id = cluster_id
        self.features: dict[str, int] = {}
        self.topic_ids = log.topic_ids
        self.incarnations: dict[int, str] = {}
        self.next_producer_id = 0
        self.memory = HeartbeatTable()
        self.supported: dict[int, dict[str, tuple[int, int]]] = {}
        """Broker → the levels that it knows of each feature."""
        self.controllers: dict[int, dict[str, tuple[int, int]]] = {}
        """The same of controllers that have registered."""
        self.quotas: dict[frozenset[tuple[str, str | None]], dict[str, float]] = {}
        self.credentials: set[tuple[str, int]] = set()
        self.rules: dict[str, Rule] = {}
        self.end = end
        replay = Replay(0)
        for value in log.others():
            replay.take(value, RecordPlace())
            self._note(value, UNKNOWN)
        replay.load(_columns(log.placed()))
        facts = [r.GenerationRecognised(generation="kraft"), *replay.facts(RecordPlace(self.end))]
        image = ClusterDelta(EMPTY).replay_all(facts).apply(Provenance("log", self.end, 0, complete=True))
        ids = log.topic_ids
        self.cluster = KraftCluster(image, directories=lambda name: log.directories(ids[name.topic], name.partition))
        self.memory = msgspec.structs.replace(self.memory, registered_at=dict(log.registered_at))

    @property
    def level(self) -> int:
        return self.cluster.levels.metadata_version

    def write(self, records: Sequence[MetadataRecord]) -> list[bytes]:
        """Takes decided records in, and gives their bytes, for the log's end."""
        values: list[bytes] = []
        epochs = {broker: each.epoch for broker, each in self.cluster.brokers.items()}
        for record in records:
            if isinstance(record, TopicCreated):
                self.topic_ids[record.topic] = topic_id_text(uuid.uuid4()) or ""
            values.append(framed(record, self.level, self.topic_ids, epochs))
            if isinstance(record, BrokerChanged):
                self.memory = self.memory.after(record)
        self.cluster = self.cluster.after(records)
        self.take(values)
        return values

    def register(self, record: BrokerRegistered, fields: dict[str, Any], version: int) -> bytes:
        """A broker's registration, which says more than is decided."""
        value = encode_record("RegisterBrokerRecord", version, fields)
        self.cluster = self.cluster.after([record])
        self.memory = self.memory.after(record)
        self.take([value])
        return value

    def take(self, values: Iterable[bytes]) -> None:
        """Records that are written at the log's end."""
        for value in values:
            self._note(value, self.end)
            self.end += 1

    def _note(self, value: bytes | None, offset: int) -> None:
        found = decode(value)
        if not isinstance(found, Decoded):
            return
        fields: Any = found.fields
        note = _NOTES.get(found.schema.name)
        if note is not None:
            note(self, fields, offset)


def _note_registration(state: TermState, fields: dict[str, Any], offset: int) -> None:
    broker = fields["brokerId"]
    state.incarnations[broker] = fields["incarnationId"]
    state.supported[broker] = _ranges(fields)
    registered = {**state.memory.registered_at, broker: offset}
    state.memory = msgspec.structs.replace(state.memory, registered_at=registered)


def _ranges(fields: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {each["name"]: (each["minSupportedVersion"], each["maxSupportedVersion"]) for each in fields["features"]}


def _note_removal(state: TermState, fields: dict[str, Any], _: int) -> None:
    state.topic_ids = {name: id_ for name, id_ in state.topic_ids.items() if id_ != fields["topicId"]}


def _note_producer_ids(state: TermState, fields: dict[str, Any], _: int) -> None:
    state.next_producer_id = fields["nextProducerId"]


def _note_quota(state: TermState, fields: dict[str, Any], _: int) -> None:
    entity = frozenset((each["entityType"], each["entityName"]) for each in fields["entity"])
    known = state.quotas.setdefault(entity, {})
    known.pop(fields["key"], None)
    if not fields["remove"]:
        known[fields["key"]] = fields["value"]


def _note_rule(state: TermState, fields: dict[str, Any], _: int) -> None:
    state.rules[fields["id"]] = Rule(
        fields["resourceType"],
        fields["resourceName"],
        fields["patternType"],
        fields["principal"],
        fields["host"],
        fields["operation"],
        fields["permissionType"],
    )


_NOTES: Final[Mapping[str, Callable[[TermState, dict[str, Any], int], object]]] = {
    "TopicRecord": lambda state, fields, _: state.topic_ids.update({fields["name"]: fields["topicId"]}),
    "RemoveTopicRecord": _note_removal,
    "RegisterBrokerRecord": _note_registration,
    "UnregisterBrokerRecord": lambda state, fields, _: state.supported.pop(fields["brokerId"], None),
    "RegisterControllerRecord": lambda state, fields, _: state.controllers.update(
        {fields["controllerId"]: _ranges(fields)}
    ),
    "UnregisterControllerRecord": lambda state, fields, _: state.controllers.pop(fields["controllerId"], None),
    "FeatureLevelRecord": lambda state, fields, _: state.features.update({fields["name"]: fields["featureLevel"]}),
    "ProducerIdsRecord": _note_producer_ids,
    "ClientQuotaRecord": _note_quota,
    "UserScramCredentialRecord": lambda state, fields, _: state.credentials.add((fields["name"], fields["mechanism"])),
    "RemoveUserScramCredentialRecord": lambda state, fields, _: state.credentials.discard(
        (fields["name"], fields["mechanism"])
    ),
    "AccessControlEntryRecord": _note_rule,
    "RemoveAccessControlEntryRecord": lambda state, fields, _: state.rules.pop(fields["id"], None),
}
"""By name of the record; topics, partitions and settings are in the cluster."""


def _columns(records: Sequence[bytes]) -> Values:
    sizes = np.fromiter(map(len, records), np.int64, len(records))
    return Values(b"".join(records), np.cumsum(sizes) - sizes, sizes)

"""What an active controller knows: all that its log says, what it is about to write included, and who is alive.

Built from the whole log when its voter is elected; from then on each batch that it writes is taken in before it is
committed, as in Kafka's own. Whoever leads no more throws it away.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.cluster.ids import METADATA_VERSION
from model.hosts.quorum.voter_disk import VoterDisk
from model.hosts.wire.names import topic_id_text
from model.kraft_controller.cluster import BrokerChanged, BrokerRegistered, KraftCluster, MetadataRecord, TopicCreated
from model.kraft_controller.heartbeats import Memory
from model.kraft_controller.written import framed
from model.log.records import Record, RecordBatch, records_of, scan
from model.metadata_log.decoder import Decoded, decode
from model.metadata_log.encoder import encode_record
from model.metadata_log.replay import Replay
from model.metadata_log.topics import Place

PRODUCER_IDS = 1_000
"""So many are handed out at once."""


class ControllerState:
    """Of one term as active controller."""

    def __init__(self, disk: VoterDisk, cluster_id: str) -> None:
        self.cluster_id = cluster_id
        self.features: dict[str, int] = {}
        self.topic_ids: dict[str, str] = {}
        self.incarnations: dict[int, str] = {}
        self.next_producer_id = 0
        self.memory = Memory()
        self.end = disk.end
        replay = Replay(0)
        for value, at in _values(disk):
            replay.take(value, at)
            self._note(value, at.offset)
        facts = [r.GenerationRecognised(generation="kraft"), *replay.facts(Place(self.end))]
        image = ClusterDelta(EMPTY).replay_all(facts).apply(Provenance("log", self.end, 0, complete=True))
        self.cluster = KraftCluster(image)

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
                self.memory = self.memory.forgetting(record.broker)
        self.cluster = self.cluster.after(records)
        self.take(values)
        return values

    def register(self, record: BrokerRegistered, fields: dict[str, Any], version: int) -> bytes:
        """A broker's registration, which says more than is decided."""
        value = encode_record("RegisterBrokerRecord", version, fields)
        self.cluster = self.cluster.after([record])
        self.memory = self.memory.forgetting(record.broker)
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
        match found.schema.name:
            case "TopicRecord":
                self.topic_ids[fields["name"]] = fields["topicId"]
            case "RemoveTopicRecord":
                self.topic_ids = {name: id_ for name, id_ in self.topic_ids.items() if id_ != fields["topicId"]}
            case "RegisterBrokerRecord":
                self.incarnations[fields["brokerId"]] = fields["incarnationId"]
                registered = {**self.memory.registered_at, fields["brokerId"]: offset}
                self.memory = msgspec.structs.replace(self.memory, registered_at=registered)
            case "FeatureLevelRecord":
                self.features[fields["name"]] = fields["featureLevel"]
            case "ProducerIdsRecord":
                self.next_producer_id = fields["nextProducerId"]
            case _:
                pass

    @property
    def is_new(self) -> bool:
        """Whether nobody has said yet which metadata.version holds."""
        return METADATA_VERSION not in self.features


def values_of(data: bytes) -> Iterator[tuple[bytes | None, Place]]:
    """The records of data batches, and where they stand."""
    for batch in scan(data):
        if isinstance(batch, RecordBatch) and not batch.is_control:
            for record in records_of(data, batch):
                if isinstance(record, Record):
                    yield record.value, Place(record.offset, batch.partition_leader_epoch, record.timestamp)


def _values(disk: VoterDisk) -> Iterator[tuple[bytes | None, Place]]:
    """All that the newest snapshot below the log's start has, then the log."""
    log = disk.raft_log()
    if log.base.offset:
        yield from ((value, Place()) for value, _ in values_of(disk.whole_snapshot(log.base)))
    at = log.base.offset
    while at < disk.end:
        data = disk.records(at)
        yield from values_of(data)
        at = [batch.next_offset for batch in scan(data) if isinstance(batch, RecordBatch)][-1]

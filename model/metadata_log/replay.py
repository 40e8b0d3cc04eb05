"""Records of the metadata log, batch after batch → facts, as every source yields them. Never fatal.

A batch's facts are published together; those of a transaction (KIP-868) when it ends, and never if it is aborted. The
offset of a record takes the place of the zxid, the leader epoch of its batch that of the controller epoch. What cannot
be used (unknown types and versions, changes of what is not there) is counted, and the next record is taken.

Source: `org.apache.kafka.image.MetadataDelta`, `org.apache.kafka.image.loader.MetadataBatchLoader` (4.3).
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from model.cluster import records as r
from model.cluster.ids import METADATA_VERSION
from model.cluster.image_parts import NO_QUORUM_LEADER, Quorum, QuorumReplica
from model.metadata_log.decoder import Decoded, decode, decode_control, uuid_text
from model.metadata_log.journal import LEADER_CHANGE as ELECTED
from model.metadata_log.journal import MOST_RECORDS, VOTERS, Logged
from model.metadata_log.partition_records import PlacedRun, Values, read_records
from model.metadata_log.places import path_of
from model.metadata_log.registry import Registry, endpoints_text
from model.metadata_log.topics import RecordPlace, TopicsById, UnusableError

LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER, KRAFT_VERSION, KRAFT_VOTERS = 2, 3, 4, 5, 6
"""Types of control records that mean something here (`ControlRecordType`, 4.4)."""
_ELR_LEVEL: Final = 23
"""metadata.version 4.0-IV1, from which on eligible leader replicas are written."""
_BEGIN, _END, _ABORT = 23, 24, 25
_NO_OP: Final = 20
ZERO_ID: Final = uuid_text(bytes(16))
"""Of a directory, before KIP-853: nobody tells."""


class Replay:
    """All that records have said so far; `facts` tells what is new. A snapshot comes first, if at all."""

    def __init__(self, most_logged: int = MOST_RECORDS) -> None:
        """`most_logged`: so many records are kept until somebody takes them (`logged`)."""
        self._logged: deque[Logged] = deque(maxlen=most_logged)
        self.troubles: Counter[str] = Counter()
        """What could not be used, and how often."""
        self.first_trouble = -1
        self.kraft_version = 0
        """1: the log says who votes."""
        self._topics = TopicsById()
        self._registry = Registry()
        self._held: list[tuple[Decoded, RecordPlace]] | None = None
        """Records of the transaction that is open."""
        self._leader, self._epoch, self._since_ms = NO_QUORUM_LEADER, -1, 0
        self._voters: dict[int, QuorumReplica] = {}
        self._is_led_anew = False
        self._told: Quorum | None = None

    @property
    def is_in_transaction(self) -> bool:
        """Whether records are held back until it ends."""
        return self._held is not None

    @property
    def trouble(self) -> str:
        """One clause on what could not be used; empty where all could."""
        if not self.troubles:
            return ""
        reason, count = self.troubles.most_common(1)[0]
        more = f", and {self.troubles.total() - count} others" if len(self.troubles) > 1 else ""
        return f"records that cannot be used, the first at offset {self.first_trouble}: {count} times {reason}{more}"

    def take(self, value: bytes | None, at: RecordPlace) -> None:
        """A record of a data batch."""
        found = decode(value)
        if not isinstance(found, Decoded):
            self.note(found.reason, at)
            return
        if found.unknown_tags:
            self.note(f"unknown tags in {found.schema.name}", at)
        if found.schema.key in (_BEGIN, _END, _ABORT):
            self._bound(found.schema.key, at)
        elif self._held is not None:
            self._held.append((found, at))
        else:
            self._apply(found, at)

    def load(self, values: Values) -> None:
        """Records of data batches of a snapshot, in order: topics and partitions, which most are, many at a time."""
        read = read_records(values)
        topics, view = self._topics, memoryview(values.data)
        for first, end, row, topic_id, name in read.runs(len(values.starts)):
            if self._held is None:
                if name is not None:
                    topics.create(name, topic_id)
                    continue
                if row >= 0:
                    placed = read.placed_with_elr if topics.tells_elr else read.placed
                    if topics.load(topic_id, PlacedRun(placed, row, row + end - first)):
                        continue
            places = zip(values.starts[first:end].tolist(), values.sizes[first:end].tolist(), strict=True)
            for at, size in places:
                self.take(None if size < 0 else bytes(view[at : at + size]), RecordPlace())

    def take_control(self, kind: int, value: bytes | None, at: RecordPlace) -> None:
        """A record of a control batch: who leads, who votes."""
        if kind not in (LEADER_CHANGE, KRAFT_VERSION, KRAFT_VOTERS):
            return
        found = decode_control(kind, value)
        if not isinstance(found, Decoded):
            self.note(found.reason, at)
            return
        fields: dict[str, Any] = dict(found.fields)
        if kind == KRAFT_VERSION:
            self.kraft_version = fields["kRaftVersion"]
            return
        if at.offset >= 0:
            name, place = (ELECTED, "leader") if kind == LEADER_CHANGE else (VOTERS, "voters")
            self._logged.append(
                Logged(at.offset, at.epoch, at.time_ms, name, found.version, f"/metadataQuorum/{place}", fields)
            )
        if kind == LEADER_CHANGE:
            self._leader, self._epoch, self._since_ms = fields["leaderId"], at.epoch, at.time_ms
            self._is_led_anew = True
        voters = (self._voter(each) for each in fields["voters"])
        self._voters = {voter.id: voter for voter in voters}

    def _voter(self, fields: Mapping[str, Any]) -> QuorumReplica:
        """Where it listens only the set of voters says, and not who elected a leader."""
        before = self._voters.get(fields["voterId"], QuorumReplica(fields["voterId"]))
        directory, endpoints = fields.get("voterDirectoryId", ZERO_ID), fields.get("endpoints")
        return msgspec.structs.replace(
            before,
            directory_id=before.directory_id if directory == ZERO_ID else directory,
            endpoints=before.endpoints if endpoints is None else endpoints_text(endpoints),
        )

    def assume_leader(self, leader: int, epoch: int, voters: tuple[int, ...]) -> None:
        """What a node noted beside its log (`quorum-state`), where the log itself does not say it."""
        if leader != NO_QUORUM_LEADER and epoch > self._epoch:
            self._leader, self._epoch, self._since_ms, self._is_led_anew = leader, epoch, 0, True
        self._voters = self._voters or {voter: QuorumReplica(voter) for voter in voters}

    def facts(self, at: RecordPlace) -> list[r.ClusterRecord]:
        """What is new since this was asked last, as of this place; transactions that are open are held back."""
        facts: list[r.ClusterRecord] = [*self._topics.facts(at), *self._registry.facts(at)]
        quorum = Quorum(self._leader, self._epoch, voters=tuple(sorted(self._voters.values())))
        if self._leader != NO_QUORUM_LEADER and (self._is_led_anew or quorum != self._told):
            when = {"zxid": at.offset, "time_ms": at.time_ms}
            if self._is_led_anew:
                facts.append(r.ControllerElected(broker=self._leader, since_ms=self._since_ms, **when))
                facts.append(r.ControllerEpochChanged(epoch=self._epoch, **when))
            facts.append(r.QuorumDescribed(quorum=quorum, **when))
            self._told, self._is_led_anew = quorum, False
        return facts

    def logged(self) -> tuple[Logged, ...]:
        """The records since this was asked last; of a snapshot none, as nobody kept when they were written."""
        found = tuple(self._logged)
        self._logged.clear()
        return found

    def _log(self, record: Decoded, at: RecordPlace) -> None:
        fields, schema = record.fields, record.schema
        path = path_of(schema.key, fields, self._topics.name_of(fields.get("topicId")))  # pyright: ignore[reportArgumentType]
        kind = schema.name.removesuffix("Record")
        self._logged.append(Logged(at.offset, at.epoch, at.time_ms, kind, record.version, path, fields))

    def _bound(self, kind: int, at: RecordPlace) -> None:
        """A transaction begins, ends or is aborted. One that begins within another ends it as an abort would."""
        held, self._held = self._held, [] if kind == _BEGIN else None
        if (kind == _BEGIN) != (held is None):
            what = "begins within another" if kind == _BEGIN else "ends that did not begin"
            self.note(f"a transaction {what}", at)
        if kind == _END:
            for record, place in held or ():
                self._apply(record, place)

    def _apply(self, record: Decoded, at: RecordPlace) -> None:
        if at.offset >= 0 and self._logged.maxlen and record.schema.key != _NO_OP:
            self._log(record, at)
        apply = _APPLY.get(record.schema.key)
        if apply is None:
            return
        try:
            apply(self._topics, self._registry, dict(record.fields), at)
        except UnusableError as error:
            self.note(str(error), at)

    def note(self, reason: str, at: RecordPlace) -> None:
        """Counts what cannot be used."""
        if not self.troubles:
            self.first_trouble = at.offset
        self.troubles[reason] += 1


def _set_feature(topics: TopicsById, registry: Registry, fields: dict[str, Any], at: RecordPlace) -> None:
    registry.set_feature(fields)
    topics.tells_elr = registry.features.get(METADATA_VERSION, 0) >= _ELR_LEVEL


_Apply = Callable[[TopicsById, Registry, dict[str, Any], RecordPlace], object]

_APPLY: Final[Mapping[int, _Apply]] = MappingProxyType(
    {
        0: lambda _, registry, fields, at: registry.register_broker(fields, at),
        1: lambda _, registry, fields, at: registry.unregister_broker(fields),
        2: lambda topics, _, fields, at: topics.create(fields["name"], fields["topicId"]),
        3: lambda topics, _, fields, at: topics.place(fields, at),
        4: lambda _, registry, fields, at: registry.configure(fields),
        5: lambda topics, _, fields, at: topics.change(fields, at),
        7: lambda _, registry, fields, at: registry.fence(fields, is_fenced=True),
        8: lambda _, registry, fields, at: registry.fence(fields, is_fenced=False),
        9: lambda topics, registry, fields, at: registry.forget_topic(topics.remove(fields)),
        10: lambda _, registry, fields, at: registry.add_token(fields),
        11: lambda _, registry, fields, at: registry.add_credential(fields),
        12: _set_feature,
        14: lambda _, registry, fields, at: registry.set_quota(fields),
        15: lambda _, registry, fields, at: registry.hand_out_producer_ids(fields),
        17: lambda _, registry, fields, at: registry.change_broker(fields),
        18: lambda _, registry, fields, at: registry.add_acl(fields),
        19: lambda _, registry, fields, at: registry.remove_acl(fields),
        22: lambda _, registry, fields, at: registry.remove_credential(fields),
        26: lambda _, registry, fields, at: registry.remove_token(fields),
        27: lambda _, registry, fields, at: registry.register_controller(fields),
        28: lambda topics, _, fields, at: topics.clear_elr(fields["topicName"], at),
        29: lambda _, registry, fields, at: registry.unregister_controller(fields),
    }
)
"""By api key. A record that is not here (NoOp, the state of a migration) says nothing of the cluster."""

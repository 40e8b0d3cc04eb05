"""Batches of the metadata log as bytes, and what Raft has to know of them: who was elected, and who votes.

The records of the state machine are not looked into. Sources: `org.apache.kafka.common.record.ControlRecordType`
(types 2 to 6), `LeaderChangeMessage.json`, `KRaftVersionRecord.json`, `VotersRecord.json`, `SnapshotHeaderRecord.json`,
`SnapshotFooterRecord.json` (4.3).
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from kio.schema.k_raft_version_record.v0.data import KRaftVersionRecord
from kio.schema.leader_change_message.v0 import data as leader_change
from kio.schema.snapshot_footer_record.v0.data import SnapshotFooterRecord
from kio.schema.snapshot_header_record.v0.data import SnapshotHeaderRecord
from kio.schema.voters_record.v0 import data as voters_record

from model.hosts.quorum.raft_requests import LISTENER
from model.hosts.wire.codec import reader
from model.hosts.wire.fields import Entity
from model.hosts.wire.messages import encode
from model.hosts.wire.names import MalformedError, topic_id_text, topic_uuid
from model.log.records import ControlType, Record, RecordBatch, control_type, crc_holds, encode_batch, records_of, scan
from model.observer.messages import LogPosition
from model.raft.raft_log import LeaderElected, RaftBatch, ReplicaKey, Voter, VoterSet, VotersWritten

_SHAPES: Final[Mapping[ControlType, Any]] = {
    ControlType.LEADER_CHANGE: leader_change.LeaderChangeMessage,
    ControlType.SNAPSHOT_HEADER: SnapshotHeaderRecord,
    ControlType.SNAPSHOT_FOOTER: SnapshotFooterRecord,
    ControlType.KRAFT_VERSION: KRaftVersionRecord,
    ControlType.KRAFT_VOTERS: voters_record.VotersRecord,
}
_KEY: Final = struct.Struct(">hh")
_START: Final = struct.Struct(">qii")
"""Base offset, size, leader epoch: what no checksum covers, as only a leader knows it."""


def batches_of(data: bytes) -> tuple[RaftBatch, ...]:
    """The whole batches at the beginning of these bytes. Raises MalformedError where the first is none."""
    found: list[RaftBatch] = []
    for batch in scan(data):
        if not isinstance(batch, RecordBatch) or not crc_holds(data, batch):
            if not found:
                raise MalformedError(f"a batch of the metadata log is damaged: {batch}")
            break
        raw = data[batch.position : batch.end]
        content = _control(data, batch) if batch.is_control else raw
        found.append(RaftBatch(batch.base_offset, batch.next_offset, batch.partition_leader_epoch, content, raw))
    return tuple(found)


def _control(data: bytes, batch: RecordBatch) -> bytes | LeaderElected | VotersWritten:
    """The voters, where it names them, as they count; the leader else."""
    found = dict(_controls(data, batch))
    if ControlType.KRAFT_VOTERS in found:
        return VotersWritten(_voters(found))
    if ControlType.LEADER_CHANGE in found:
        told = found[ControlType.LEADER_CHANGE]
        return LeaderElected(
            int(told.leader_id),
            tuple(int(each.voter_id) for each in told.voters),
            tuple(int(each.voter_id) for each in told.granting_voters),
        )
    return b""


def _controls(data: bytes, batch: RecordBatch) -> Iterator[tuple[ControlType, Any]]:
    for record in records_of(data, batch):
        kind = control_type(record.key) if isinstance(record, Record) else None
        if kind is not None and kind in _SHAPES and isinstance(record, Record) and record.value is not None:
            yield kind, reader(_SHAPES[kind])(record.value, 0)[0]


def _voters(found: Mapping[ControlType, Any]) -> VoterSet:
    version = found.get(ControlType.KRAFT_VERSION)
    told = found[ControlType.KRAFT_VOTERS]
    return VoterSet.of(map(_voter, told.voters), 1 if version is None else int(version.k_raft_version))


def _voter(told: Any) -> Voter:
    feature = told.k_raft_version_feature
    endpoint = told.endpoints[0] if told.endpoints else None
    return Voter(
        ReplicaKey(int(told.voter_id), topic_id_text(told.voter_directory_id)),
        (endpoint.host, int(endpoint.port)) if endpoint is not None else None,
        (int(feature.min_supported_version), int(feature.max_supported_version)),
    )


def voters_of_snapshot(data: bytes) -> VoterSet | None:
    """Who votes by a snapshot; None where it does not say. Raises MalformedError for one that has no end."""
    found: dict[ControlType, Any] = {}
    for batch in scan(data):
        if isinstance(batch, RecordBatch) and batch.is_control:
            found.update(_controls(data, batch))
    if ControlType.SNAPSHOT_FOOTER not in found:
        raise MalformedError("a snapshot without its end")
    return _voters(found) if ControlType.KRAFT_VOTERS in found else None


def bytes_of(batch: RaftBatch, now_ms: int) -> bytes:
    """What a replica's log has of a batch."""
    if batch.raw:
        return batch.raw
    match batch.content:
        case bytes(made):
            size = _START.unpack_from(made)[1]
            return _START.pack(batch.offset, size, batch.epoch) + made[_START.size :]
        case LeaderElected():
            controls = [(ControlType.LEADER_CHANGE, _elected(batch.content))]
        case VotersWritten(voters):
            controls = _written(voters)[-(batch.next_offset - batch.offset) :]
    return _control_batch(controls, batch.offset, batch.epoch, now_ms)


def _control_batch(controls: Sequence[tuple[ControlType, Entity]], offset: int, epoch: int, now_ms: int) -> bytes:
    records = [
        Record(offset + place, now_ms, _KEY.pack(0, kind), encode(content))
        for place, (kind, content) in enumerate(controls)
    ]
    return encode_batch(records, leader_epoch=epoch, control=True)


def data_batch(values: Sequence[bytes], now_ms: int, *, offset: int = 0, epoch: int = 0) -> bytes:
    """Records of the state machine. Offset and epoch are given to it when it is appended."""
    return encode_batch(
        [Record(offset + at, now_ms, None, value) for at, value in enumerate(values)], leader_epoch=epoch
    )


_AT_ONCE: Final = 1_000
"""Records of one batch of a snapshot."""


def snapshot_parts(snapshot: LogPosition, voters: VoterSet, values: Sequence[bytes], time_ms: int) -> Iterator[bytes]:
    """The batches of a whole snapshot of this state; `time_ms` is the time of the last record that is in it."""
    zero: Any = 0
    header = SnapshotHeaderRecord(version=zero, last_contained_log_timestamp=time_ms)  # pyright: ignore[reportArgumentType]
    controls = [(ControlType.SNAPSHOT_HEADER, header), *(_written(voters) if voters.kraft_version else [])]
    yield _control_batch(controls, 0, snapshot.epoch, time_ms)
    for at in range(0, len(values), _AT_ONCE):
        offset = len(controls) + at
        yield data_batch(values[at : at + _AT_ONCE], time_ms, offset=offset, epoch=snapshot.epoch)
    footer = [(ControlType.SNAPSHOT_FOOTER, SnapshotFooterRecord(version=zero))]
    yield _control_batch(footer, len(controls) + len(values), snapshot.epoch, time_ms)


def snapshot_bytes(snapshot: LogPosition, voters: VoterSet, values: Sequence[bytes], time_ms: int) -> bytes:
    """All of them."""
    return b"".join(snapshot_parts(snapshot, voters, values, time_ms))


def snapshot_time(head: bytes) -> int:
    """When the last record was written that is in the snapshot that begins with these bytes. Raises MalformedError."""
    for batch in scan(head):
        if not isinstance(batch, RecordBatch):
            break
        found = dict(_controls(head, batch))
        if ControlType.SNAPSHOT_HEADER in found:
            return int(found[ControlType.SNAPSHOT_HEADER].last_contained_log_timestamp)
    raise MalformedError("a snapshot without its beginning")


def _elected(content: LeaderElected) -> Entity:
    shapes: Any = leader_change

    def named(ids: Iterable[int]) -> tuple[Any, ...]:
        return tuple(shapes.Voter(voter_id=each) for each in ids)

    return shapes.LeaderChangeMessage(
        version=0,
        leader_id=content.leader,
        voters=named(content.voters),
        granting_voters=named(content.granting),
    )


def _written(voters: VoterSet) -> list[tuple[ControlType, Entity]]:
    """The kraft.version, and the voters; where the first is known, the second is written alone."""
    shapes: Any = voters_record
    version: Any = KRaftVersionRecord
    told = tuple(
        shapes.Voter(
            voter_id=voter.key.id,
            voter_directory_id=None if voter.key.directory is None else topic_uuid(voter.key.directory),
            endpoints=_endpoints(voter),
            k_raft_version_feature=shapes.KRaftVersionFeature(
                min_supported_version=voter.versions[0], max_supported_version=voter.versions[1]
            ),
        )
        for voter in voters.voters
    )
    return [
        (ControlType.KRAFT_VERSION, version(version=0, k_raft_version=voters.kraft_version)),
        (ControlType.KRAFT_VOTERS, shapes.VotersRecord(version=0, voters=told)),
    ]


def _endpoints(voter: Voter) -> tuple[Any, ...]:
    shape: Any = voters_record.Endpoint
    return (shape(name=LISTENER, host=voter.address[0], port=voter.address[1]),) if voter.address else ()

"""What a voter of a quorum keeps on disk: its log, its snapshots, and whom it voted for; as Kafka's controllers do.

`meta.properties` in a log folder; in `__cluster_metadata-0` segments with their indexes, `leader-epoch-checkpoint`,
`<offset>-<epoch>.checkpoint` and `quorum-state`, which is written before a vote is told to anybody. Sources:
`org.apache.kafka.raft.FileQuorumStateStore`, `org.apache.kafka.snapshot.Snapshots`, `KafkaRaftLog` (4.3).
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

from model.cluster.whole_file import read_text
from model.hosts.observing.controller_wire import METADATA_TOPIC_ID
from model.hosts.quorum.control_batches import batches_of, bytes_of, snapshot_bytes
from model.hosts.quorum.snapshot_files import SnapshotFiles
from model.hosts.wire.names import MalformedError
from model.log.checkpoints import (
    read_meta_properties,
    read_topic_id,
    write_durably,
    write_meta_properties,
    write_topic_id,
)
from model.log.names import DamagedFileError
from model.log.recovery import Checkpointed, open_log
from model.log.settings import LogSettings
from model.observer.messages import NOBODY, UNKNOWN, LogPosition
from model.raft.messages import ElectionState
from model.raft.raft_log import BOOTSTRAP, RaftBatch, RaftLog, ReplicaKey, VoterSet
from model.raft.retention import Retention, new_start

FOLDER: Final = "__cluster_metadata-0"
_STATE: Final = "quorum-state"
_AT_ONCE: Final = 1 << 20
SEGMENT_BYTES: Final = 1 << 30
"""A segment is deleted as a whole (`metadata.log.segment.bytes`)."""
_NO_DIRECTORY: Final = "AAAAAAAAAAAAAAAAAAAAAA"


def format_folder(log_dir: Path, cluster_id: str, key: ReplicaKey, voters: VoterSet, values: Sequence[bytes]) -> None:
    """What a node begins with: who it is and, where voters can be changed, a first snapshot of them and of records."""
    folder = log_dir / FOLDER
    folder.mkdir(parents=True)
    about = {"version": "1", "cluster.id": cluster_id, "node.id": str(key.id)}
    write_meta_properties(log_dir, about if key.directory is None else {**about, "directory.id": key.directory})
    if voters.kraft_version:
        write_durably(SnapshotFiles(folder).path(BOOTSTRAP), snapshot_bytes(BOOTSTRAP, voters, values, 0))


def identity(log_dir: Path) -> tuple[str, ReplicaKey]:
    """The cluster and the replica that a folder was formatted for. Raises DamagedFileError."""
    told = read_meta_properties(log_dir)
    try:
        return told["cluster.id"], ReplicaKey(int(told["node.id"]), told.get("directory.id"))
    except (KeyError, ValueError):
        raise DamagedFileError(log_dir / "meta.properties", "it names no node.id and no cluster.id") from None


class VoterDisk:
    """The files of one voter, open until `close`. Calls are short; OSError means a failing disk.

    `voters` are those of the configuration; a log or a snapshot that names voters knows better.
    """

    def __init__(self, log_dir: Path, voters: VoterSet, now_ms: int, segment_bytes: int = SEGMENT_BYTES) -> None:
        """Raises DamagedFileError, and MalformedError for a snapshot without an end."""
        self.folder = log_dir / FOLDER
        self.snapshots = SnapshotFiles(self.folder)
        self._configured = voters
        self.folder.mkdir(parents=True, exist_ok=True)
        self.snapshots.forget_parts()
        known = max(self.snapshots.ids(), default=LogPosition())
        settings = LogSettings(retention_ms=-1, segment_bytes=segment_bytes)
        self._log, self.recovery = open_log(
            self.folder, settings, Checkpointed(recovery_point=known.offset), now_ms=now_ms
        )
        if read_topic_id(self.folder) is None:
            write_topic_id(self.folder, METADATA_TOPIC_ID)
        self._finish_download(now_ms)
        self._finish_cleaning()

    def _finish_download(self, now_ms: int) -> None:
        """A snapshot was copied, and the process ended before the log was emptied for it."""
        newest = max(self.snapshots.ids(), default=LogPosition())
        last_epoch = self._log.epochs.latest or 0
        is_newer = newest.offset > self._log.start_offset and newest.epoch > last_epoch
        if newest.offset > self._log.end_offset or is_newer:
            self.start_at(newest, now_ms)

    def _finish_cleaning(self) -> None:
        """Whole segments are deleted: the first one may begin before the oldest snapshot that is left ends."""
        start = self._log.start_offset
        if start:
            oldest = next((each for each in self.snapshots.ids() if each.offset >= start), None)
            if oldest is None:
                raise DamagedFileError(
                    self.folder, f"the log begins at {start}, and no snapshot has what was before it"
                )
            self._log.set_high_watermark(oldest.offset)
            self._log.advance_start(oldest.offset)
            self.snapshots.delete_before(oldest)

    def close(self, now_ms: int) -> None:
        """Ends in order."""
        self._log.close(now_ms=now_ms)

    # What it has.

    @property
    def end(self) -> int:
        return self._log.end_offset

    def election_state(self) -> ElectionState:
        """Who voted for whom; nothing where the file is not there or says nothing. Raises DamagedFileError."""
        path = self.folder / _STATE
        try:
            told: object = json.loads(read_text(path))
        except (OSError, ValueError):
            return ElectionState()
        state = cast("dict[str, Any]", told if isinstance(told, dict) else {})
        if state.get("data_version") not in {0, 1}:
            raise DamagedFileError(path, f"its version is {state.get('data_version')}, not 0 or 1")
        voted, directory = state.get("votedId", NOBODY), state.get("votedDirectoryId")
        key = None if voted == NOBODY else ReplicaKey(voted, None if directory in {None, _NO_DIRECTORY} else directory)
        return ElectionState(state.get("leaderEpoch", 0), state.get("leaderId", NOBODY), key)

    def raft_log(self) -> RaftLog:
        """What Raft has to know of it. Of what is in the newest snapshot only the epochs are still looked at."""
        start, snapshots = self._log.start_offset, self.snapshots.ids()
        log = RaftLog(voter_sets=((UNKNOWN, self._configured),))
        if snapshots:
            newest = snapshots[-1]
            log = RaftLog(
                base=next((each for each in snapshots if each.offset == start), LogPosition()),
                end=newest.offset,
                epochs=tuple((epoch, at) for epoch, at in self._log.epochs.starts if at < newest.offset),
                snapshots=snapshots,
                voter_sets=((newest.offset - 1, self.voters_of(newest)),),
                high_watermark=newest.offset or UNKNOWN,
            )
        while log.end < self.end:
            log = log.appended(batches_of(self.records(log.end)))
        return log

    def records(self, offset: int, end: int | None = None) -> bytes:
        """Whole batches from `offset` on, below `end`: at least one where there is any."""
        return bytes(self._log.read(offset, max_bytes=_AT_ONCE, end_offset=end).data)

    def voters_of(self, snapshot: LogPosition) -> VoterSet:
        """Who votes by a snapshot. Raises MalformedError for one that is not whole."""
        return self.snapshots.voters(snapshot) or self._configured

    @property
    def start(self) -> int:
        """What is below is in a snapshot only."""
        return self._log.start_offset

    # What is written. All of it is on disk when the call returns.

    def persist(self, state: ElectionState, voters: VoterSet) -> None:
        """Whom it voted for, and who leads, in Kafka's form for this kraft.version."""
        voted = NOBODY if state.voted is None else state.voted.id
        told: dict[str, object] = {"leaderId": state.leader, "leaderEpoch": state.epoch, "votedId": voted}
        if voters.kraft_version:
            told["votedDirectoryId"] = (state.voted and state.voted.directory) or _NO_DIRECTORY
        else:
            told = {"clusterId": "", **told, "appliedOffset": 0}
            told["currentVoters"] = [{"voterId": id_} for id_ in voters.ids]
        text = json.dumps({**told, "data_version": voters.kraft_version}, separators=(",", ":"))
        write_durably(self.folder / _STATE, text.encode())

    def append(self, batches: Sequence[RaftBatch], now_ms: int) -> None:
        """At the log's end."""
        for batch in batches:
            data = bytes_of(batch, now_ms)
            if self._log.append_as_follower(data, now_ms=now_ms) is None:
                raise MalformedError(f"{len(data)} bytes without a whole batch")
        self._log.flush()

    def truncate(self, offset: int, now_ms: int) -> None:
        """This is the log's end now."""
        self._log.truncate_to(offset, now_ms=now_ms)
        self._log.flush()

    def commit(self, high_watermark: int) -> None:
        """Nothing below it is ever cut."""
        self._log.set_high_watermark(high_watermark)

    def start_at(self, snapshot: LogPosition, now_ms: int) -> None:
        """The log is emptied and goes on at the end of this snapshot; older ones are deleted."""
        self._log.truncate_fully_and_start_at(snapshot.offset, now_ms=now_ms)
        self._log.flush()
        self.snapshots.delete_before(snapshot)

    def clean(self, limits: Retention, now_ms: int) -> LogPosition | None:
        """Deletes what is kept no longer, and says at the end of which snapshot the log begins by that, if by any."""
        self._log.remove_deleted_files(now_ms)
        start = new_start(self.snapshots.files(), self._log.size_bytes, limits, now_ms)
        if start is not None:
            self.commit(max(start.offset, self._log.high_watermark))
            self._log.advance_start(start.offset)
            self._log.apply_retention(now_ms)
            self._log.flush()
            self.snapshots.delete_before(start)
        return start

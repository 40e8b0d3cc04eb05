"""A snapshot of the metadata log that is being read: the cluster as far as whole, sound batches of it are there."""

from typing import Final

from model.hosts.observing.replaying import replay_batches, snapshot_time
from model.log.records import RecordBatch, crc_holds, scan
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.observer.messages import LogPosition, SnapshotGrew

MOST_LEFT: Final = 32 << 20
"""Bytes that wait for the end of a batch: Kafka's have 8 MiB at most."""


class Growing:
    """Takes pieces in their order, the first one first."""

    def __init__(self, snapshot: LogPosition) -> None:
        self.id = snapshot
        self.replay = Replay()
        self.at = RecordPlace(snapshot.offset - 1, snapshot.epoch)
        self.read = 0
        """Bytes of whole batches."""
        self.is_sound = True
        """What is not is complained about by whoever has all of it."""
        self._left = b""

    def take(self, piece: SnapshotGrew) -> None:
        """What of it makes batches whole goes into the replay."""
        if not self.is_sound:
            return
        data, end = self._left + piece.data, 0
        if not piece.position:
            self.at = RecordPlace(self.at.offset, self.at.epoch, snapshot_time(data))
        for batch in scan(data):
            if not isinstance(batch, RecordBatch):
                break  # cut short by the piece's end, as a rule
            if batch.magic != 2 or not crc_holds(data, batch):
                self.is_sound = False
                return
            end = batch.end
        replay_batches(self.replay, data[:end], is_snapshot=True)
        self.read += end
        self._left = data[end:]
        if len(self._left) > MOST_LEFT:
            self.is_sound, self._left = False, b""

"""What a leader changes in entries it was sent, in place: offsets, its epoch, and with append time the timestamps.

Kafka does the same in `LogValidator` (3.9), where neither format nor codec changes. Records are not touched, so a
compressed v0 set, whose inner offsets are absolute, cannot be stamped.
"""

from model.log.records import layout
from model.log.records.batch import RecordBatch
from model.log.records.checksums import stored_crc

_ATTRIBUTES_AT = 21
_MAX_TIMESTAMP_AT = 35
_LEADER_EPOCH_AT = 12


def stamp(
    entry: bytearray | memoryview,
    batch: RecordBatch,
    last_offset: int,
    leader_epoch: int,
    append_time_ms: int | None = None,
) -> None:
    """Gives the batch, whose header lies at the start of `entry`, its offsets and its leader's epoch.

    `last_offset` is the one that its last record gets: its base follows. With `append_time_ms` the batch gets append
    time and that as its max timestamp (v2 only). The CRC is made anew only where what it covers changed. Raises
    ValueError for what cannot be stamped.
    """
    if batch.magic < 2:
        if append_time_ms is not None or (batch.magic == 0 and batch.attributes & layout.CODEC_MASK):
            raise ValueError(f"a message of magic {batch.magic} cannot be stamped in place: encode it anew")
        entry[:8] = last_offset.to_bytes(8, "big")
        return
    entry[:8] = (last_offset - batch.last_offset_delta).to_bytes(8, "big")
    entry[_LEADER_EPOCH_AT : _LEADER_EPOCH_AT + 4] = leader_epoch.to_bytes(4, "big", signed=True)
    if append_time_ms is not None:
        entry[_ATTRIBUTES_AT + 1] = batch.attributes | layout.APPEND_TIME
        entry[_MAX_TIMESTAMP_AT : _MAX_TIMESTAMP_AT + 8] = append_time_ms.to_bytes(8, "big", signed=True)
        crc = stored_crc(memoryview(entry)[: batch.size], batch.magic)
        entry[layout.BATCH_CRC_AT : layout.BATCH_CRC_START] = crc.to_bytes(4, "big")

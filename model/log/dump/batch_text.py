"""The lines that DumpLogSegments 3.9 prints for batches and for old messages (`printBatchLevel`)."""

import numpy as np

from model.log.dump.names import BATCH_TIME_NAMES, CODEC_NAMES, FLAGS, TIME_NAMES
from model.log.dump.rows import Choice, Column, rows
from model.log.records import RecordBatch
from model.log.records.header_columns import HeaderColumns
from model.log.records.layout import (
    APPEND_TIME,
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    INT32_MAX,
    NO_SEQUENCE,
    TRANSACTIONAL,
)

_MESSAGE_LINE = b"offset: %d position: %d %b: %d size: %d magic: %d compresscodec: %b crc: %d isvalid: %b\n"


def message_line(message: RecordBatch, crc_valid: bool) -> bytes:
    """The line of a v0 or v1 entry."""
    return _MESSAGE_LINE % (
        message.base_offset,
        message.position,
        TIME_NAMES[message.timestamp_type],
        message.max_timestamp,
        message.size,
        message.magic,
        CODEC_NAMES[message.attributes & CODEC_MASK],
        message.crc,
        FLAGS[crc_valid],
    )


def batch_lines(headers: HeaderColumns) -> list[bytes]:
    """The lines of v2 entries, one at least."""

    def flag(mask: int) -> Choice:
        return Choice(FLAGS, (headers.attributes & mask > 0).astype(np.int64))

    append_time = (headers.attributes & APPEND_TIME > 0).astype(np.int64)
    return rows(
        [
            (b"baseOffset: ", headers.base_offset),
            (b" lastOffset: ", headers.last_offset),
            (b" count: ", headers.count),
            (b" baseSequence: ", headers.base_sequence),
            (b" lastSequence: ", _last_sequences(headers)),
            (b" producerId: ", headers.producer_id),
            (b" producerEpoch: ", headers.producer_epoch),
            (b" partitionLeaderEpoch: ", headers.partition_leader_epoch),
            (b" isTransactional: ", flag(TRANSACTIONAL)),
            (b" isControl: ", flag(CONTROL)),
            (b" deleteHorizonMs: ", _horizons(headers)),
            (b" position: ", headers.position),
            (b" ", Choice(BATCH_TIME_NAMES, append_time)),
            (b": ", headers.max_timestamp),
            (b" size: ", headers.size),
            (b" magic: ", headers.magic),
            (b" compresscodec: ", Choice(CODEC_NAMES, headers.attributes & CODEC_MASK)),
            (b" crc: ", headers.crc),
            (b" isvalid: ", Choice(FLAGS, headers.crc_valid.astype(np.int64))),
            (b"\n", Choice((b"",), np.zeros(len(headers.position), np.int64))),
        ]
    )


def _last_sequences(headers: HeaderColumns) -> Column:
    total = headers.base_sequence + headers.last_offset - headers.base_offset
    total = np.where(total > INT32_MAX, total - INT32_MAX - 1, total)
    return np.where(headers.base_sequence == NO_SEQUENCE, NO_SEQUENCE, total)


def _horizons(headers: HeaderColumns) -> Column:
    is_set = headers.attributes & DELETE_HORIZON > 0
    if not bool(is_set.any()):
        return Choice((b"OptionalLong.empty",), np.zeros(len(is_set), np.int64))
    pairs = zip(is_set.tolist(), headers.base_timestamp.tolist(), strict=True)
    return [b"OptionalLong[%d]" % horizon if given else b"OptionalLong.empty" for given, horizon in pairs]

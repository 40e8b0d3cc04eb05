"""What DumpLogSegments calls flags, codecs and kinds of timestamps."""

from model.log.records import Codec, TimestampType
from model.log.records.layout import CODEC_MASK

TIME_NAMES = {
    TimestampType.NO_TIMESTAMP: b"NoTimestampType",
    TimestampType.CREATE_TIME: b"CreateTime",
    TimestampType.LOG_APPEND_TIME: b"LogAppendTime",
}
BATCH_TIME_NAMES = (TIME_NAMES[TimestampType.CREATE_TIME], TIME_NAMES[TimestampType.LOG_APPEND_TIME])
FLAGS = (b"false", b"true")
CODEC_NAMES = tuple(
    Codec(number).name.lower().encode() if number <= Codec.ZSTD else b"unknown(%d)" % number
    for number in range(CODEC_MASK + 1)
)

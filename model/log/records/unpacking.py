"""Decompression of a batch's contents, with every refusal as a Damage."""

from model.log.records.batch import Buffer, RecordBatch
from model.log.records.codecs import StreamError, TooLargeError, decompress
from model.log.records.damage import Damage, DamageKind
from model.log.records.layout import CODEC_MASK, Codec


def unpack(payload: Buffer, batch: RecordBatch, limit: int) -> Buffer | Damage:
    """The payload of a batch as its attributes say it is compressed: plain bytes, at most `limit`."""
    codec = batch.codec
    if codec is None:
        return damaged(batch, DamageKind.UNKNOWN_CODEC, f"codec {batch.attributes & CODEC_MASK}")
    if codec == Codec.ZSTD and batch.magic < 2:
        return damaged(batch, DamageKind.UNKNOWN_CODEC, f"zstd in magic {batch.magic}")
    try:
        return decompress(codec, payload, batch.magic, limit)
    except StreamError as error:
        return damaged(batch, DamageKind.BAD_STREAM, str(error))
    except TooLargeError as error:
        return damaged(batch, DamageKind.TOO_LARGE, str(error))


def damaged(batch: RecordBatch, kind: DamageKind, cause: str) -> Damage:
    """Damage to the whole of a batch."""
    return Damage(batch.position, batch.size, kind, cause)

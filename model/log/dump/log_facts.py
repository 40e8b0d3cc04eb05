"""A .log file as values, for JSON: batches, and with `deep` their records."""

import base64
from collections.abc import Iterator

from model.log.dump.decoders import Decoder, Fields, control_text, decode
from model.log.dump.facts import CODEC_NAMES, DumpOptions, Fact, Remark
from model.log.dump.salvage import batches_past_damage, header_damage
from model.log.records import Damage, Record, RecordBatch, Source, records_of
from model.log.records.layout import CODEC_MASK

Text = str | dict[str, str] | None
"""Bytes as text, or as `{"base64": ...}` where they are not UTF-8."""
Contents = Text | Fields
"""The same, or what a decoder found."""


class Batch(Fact, frozen=True, tag="batch"):
    """An entry's header. Of a compressed v0 or v1 set, the base offset is its last one and the count is -1."""

    position: int
    size: int
    magic: int
    base_offset: int
    last_offset: int
    count: int
    codec: str
    timestamp_type: str
    max_timestamp_ms: int
    partition_leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    transactional: bool
    control: bool
    delete_horizon_ms: int | None
    crc: int
    crc_valid: bool


class RecordKept(Fact, frozen=True, tag="record", omit_defaults=True):
    """A record. `key`, `value` and `headers` are there with `contents` only; sizes are -1 for null."""

    offset: int
    timestamp_ms: int
    key_size: int
    value_size: int
    sequence: int
    crc_valid: bool = True
    control: str = ""
    key: Contents = None
    value: Contents = None
    headers: tuple[tuple[Text, Text], ...] = ()


def log_facts(source: Source, options: DumpOptions) -> Iterator[Fact | Damage | Remark]:
    """Every batch, and with `deep` its records; damage after what it is about."""
    for part in batches_past_damage(source):
        if isinstance(part, Damage):
            yield part
        else:
            yield from _batch(source, *part, options)


def _batch(source: Source, batch: RecordBatch, crc_valid: bool, options: DumpOptions) -> Iterator[Fact | Damage]:
    yield Batch(
        position=batch.position,
        size=batch.size,
        magic=batch.magic,
        base_offset=batch.base_offset,
        last_offset=batch.last_offset,
        count=batch.count,
        codec=CODEC_NAMES[batch.attributes & CODEC_MASK].decode(),
        timestamp_type=batch.timestamp_type.name.lower(),
        max_timestamp_ms=batch.max_timestamp,
        partition_leader_epoch=batch.partition_leader_epoch,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        last_sequence=batch.last_sequence,
        transactional=batch.is_transactional,
        control=batch.is_control,
        delete_horizon_ms=batch.delete_horizon_ms,
        crc=batch.crc,
        crc_valid=crc_valid,
    )
    yield from header_damage(batch, crc_valid)
    if options.deep:
        for record in records_of(source, batch):
            yield record if isinstance(record, Damage) else _record(record, batch, options)


def _record(record: Record, batch: RecordBatch, options: DumpOptions) -> RecordKept:
    shown = options.contents and not batch.is_control
    key, value = (None, None) if not shown else _contents(record, options.decoder)
    return RecordKept(
        offset=record.offset,
        timestamp_ms=record.timestamp,
        key_size=-1 if record.key is None else len(record.key),
        value_size=-1 if record.value is None else len(record.value),
        sequence=record.sequence,
        crc_valid=record.crc_valid,
        control=control_text(record) if batch.is_control else "",
        key=key,
        value=value,
        headers=tuple((_text(key), _text(value)) for key, value in record.headers) if shown else (),
    )


def _contents(record: Record, decoder: Decoder | None) -> tuple[Contents, Contents]:
    return (_text(record.key), _text(record.value)) if decoder is None else decode(decoder, record)


def _text(data: bytes | None) -> Text:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}

"""One file shown: its kind is known by its name, its parts come in order, as text or as JSON lines (kdrill.dump-log/1).

Producer snapshots, checkpoints and properties are read here. JSON lines say what file it is, its entries and its
damage, and how many there were; they are ASCII, so whatever a file holds is harmless on a terminal.
A .log file is told as batches, and with `deep` as their records.
"""

import base64
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from struct import Struct

import msgspec

from model.log.checkpoints import INT32, INT64, whole_number
from model.log.dump.decoders import Fields, LogDecoder, control_text, decode
from model.log.dump.facts import (
    CODEC_NAMES,
    DumpOptions,
    EpochStart,
    Fact,
    FileKind,
    FileName,
    Line,
    Part,
    PartitionOffset,
    ProducerState,
    PropertyLine,
    Remark,
)
from model.log.dump.index_files import index_facts, transaction_index_entries
from model.log.dump.salvage import batches_past_damage, header_damage
from model.log.records import ByteSource, Damage, DamageKind, Record, RecordBatch, SegmentFile, records_of
from model.log.records.batch import crc32c
from model.log.records.layout import CODEC_MASK
from model.metadata_log.decoder import java_text

Text = str | dict[str, str] | None
"""Bytes as text, or as `{"base64": ...}` where they are not UTF-8."""
Contents = Text | Fields
"""The same, or what a decoder found."""


class BatchFact(Fact, frozen=True, tag="batch"):
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


def log_facts(source: ByteSource, options: DumpOptions) -> Iterator[Fact | Damage | Remark]:
    """Every batch, and with `deep` its records; damage after what it is about."""
    for part in batches_past_damage(source):
        if isinstance(part, Damage):
            yield part
        else:
            yield from _batch(source, *part, options)


def _batch(source: ByteSource, batch: RecordBatch, crc_valid: bool, options: DumpOptions) -> Iterator[Fact | Damage]:
    yield BatchFact(
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
        control=control_text(record, options.release) if batch.is_control else "",
        key=key,
        value=value,
        headers=tuple((_text(key), _text(value)) for key, value in record.headers) if shown else (),
    )


def _contents(record: Record, decoder: LogDecoder | None) -> tuple[Contents, Contents]:
    return (_text(record.key), _text(record.value)) if decoder is None else decode(decoder, record)


def _text(data: bytes | None) -> Text:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


_HEADER = Struct(">hIi")
_CRC_START = 6
_PRODUCER = Struct(">qhiqiqiq")
_PRODUCERS_AT_ONCE = 1024


def snapshot_producers(source: ByteSource) -> Iterator[ProducerState | Damage]:
    """The producers, as many as are there whole; then what is wrong with the file (`ProducerStateManager` 3.9)."""
    head = source.read(0, _HEADER.size)
    if len(head) < _HEADER.size:
        yield Damage(0, source.size, DamageKind.TORN, f"{source.size} bytes, the smallest snapshot has {_HEADER.size}")
        return
    version, stored, count = _HEADER.unpack(head)
    if version != 1:
        yield Damage(0, source.size, DamageKind.BAD_ENTRY, f"version {version}, only 1 is known")
        return
    crc = crc32c(head[_CRC_START:])
    at = _HEADER.size
    while piece := source.read(at, _PRODUCERS_AT_ONCE * _PRODUCER.size):
        crc = crc32c(piece, crc)
        at += len(piece)
        for fields in _PRODUCER.iter_unpack(piece[: len(piece) // _PRODUCER.size * _PRODUCER.size]):
            yield ProducerState(*fields)
    if crc != stored:
        yield Damage(0, at, DamageKind.BAD_CRC, f"the CRC is {stored}, that of the content {crc}")
    there = (at - _HEADER.size) / _PRODUCER.size
    if there != count:
        yield Damage(0, at, DamageKind.BAD_RECORDS, f"{count:,} producers are declared, {there:g} are there")


_PIECE = 1 << 16
_LONGEST_LINE = 1 << 16


def offset_checkpoint(source: ByteSource) -> Iterator[Fact | Damage]:
    """Offsets by partition (`OffsetCheckpointFile` 3.9)."""

    def parse(words: list[str]) -> PartitionOffset:
        return PartitionOffset(words[0], whole_number(words[1], INT32), whole_number(words[2], INT64))

    return _checkpoint(source, parse, 3)


def epoch_checkpoint(source: ByteSource) -> Iterator[Fact | Damage]:
    """Leader epochs and where they start (`LeaderEpochCheckpointFile` 3.9); both have to rise."""
    last = EpochStart(-1, -1)

    def parse(words: list[str]) -> EpochStart:
        nonlocal last
        before, last = last, EpochStart(whole_number(words[0], INT32), whole_number(words[1], INT64))
        if last.epoch <= before.epoch or last.start_offset <= before.start_offset:
            raise ValueError(f"comes after epoch {before.epoch} from {before.start_offset}")
        return last

    return _checkpoint(source, parse, 2)


def properties(source: ByteSource) -> Iterator[Fact | Damage]:
    """Java properties; and partition.metadata, whose lines look like `key: value`."""
    for at, line in _lines(source):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        key, sign, value = text.partition(":" if ": " in text and "=" not in text else "=")
        if sign:
            yield PropertyLine(key.strip(), value.strip())
        else:
            yield _damage(at, "a line without a key and a value")


def _checkpoint(source: ByteSource, parse: Callable[[list[str]], Fact], words: int) -> Iterator[Fact | Damage]:
    lines = _lines(source)
    head = [line for _, line in (next(lines, (0, "")), next(lines, (0, "")))]
    if source.size == 0:
        return
    if head[0].strip() != "0":
        yield _damage(0, f"version {head[0][:20]!r}, only 0 is known")
        return
    found = 0
    for at, line in lines:
        try:
            parts = line.split()
            if len(parts) != words:
                raise ValueError(f"has {len(parts)} words, not {words}")
            yield parse(parts)
        except ValueError as error:
            yield _damage(at, f"{line[:80]!r} {error}")
        found += 1
    if head[1].strip() != str(found):
        yield _damage(0, f"{head[1][:20]!r} entries are declared, {found} are there")


def _lines(source: ByteSource) -> Iterator[tuple[int, str]]:
    """Lines and where they start; a line without an end is cut."""
    at, held = 0, b""
    for position in range(0, source.size, _PIECE):
        held += bytes(source.read(position, _PIECE))
        *whole, held = held.split(b"\n")
        for line in whole:
            yield at, java_text(line)
            at += len(line) + 1
        if len(held) > _LONGEST_LINE:
            break
    if held:
        yield at, java_text(held[:_LONGEST_LINE])


def _damage(at: int, cause: str) -> Damage:
    return Damage(at, 0, DamageKind.BAD_ENTRY, cause)


FORMAT = "kdrill.dump-log/1"


def json_lines(parts: Iterable[Fact | Damage | Remark], path: str, name: FileName, size: int) -> Iterator[Part]:
    """A line for each part, between one that says what file it is and one that says that nothing is missing.

    Damage and remarks come as lines and as themselves.
    """
    yield _line(
        {
            "kind": "file",
            "format": FORMAT,
            "path": path,
            "type": name.kind,
            "base_offset": name.base_offset,
            "size": size,
        }
    )
    entries = damaged = 0
    for part in parts:
        match part:
            case Damage():
                damaged += 1
                about = {"position": part.position, "size": part.size, "damage": part.kind, "cause": part.cause}
                yield _line({"kind": "damage", **about})
                yield part
            case Remark():
                yield _line({"kind": "remark", "position": part.position, "text": part.text})
                yield part
            case _:
                entries += 1
                yield _line(msgspec.to_builtins(part))
    yield _line({"kind": "end", "entries": entries, "damaged": damaged})


def _line(fields: dict[str, object]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


_NAMED_BY_OFFSET = frozenset({FileKind.LOG, FileKind.OFFSET_INDEX, FileKind.TIME_INDEX})


def dump_file(path: str, name: FileName, options: DumpOptions) -> Iterator[Part]:
    """The file's lines and what is wrong with it. `path` is shown as given. Raises OSError if it can't be read."""
    with SegmentFile(path) as source:
        if name.base_offset is None and name.kind in _NAMED_BY_OFFSET:
            yield Remark(0, "the name holds no base offset: 0 is assumed")
        if options.json:
            yield from json_lines(_facts(source, path, name, options), path, name, source.size)
            return
        yield b"Dumping %b\n" % options.show(os.fsencode(path))
        if name.kind is FileKind.LOG:
            yield b"Log starting offset: %d\n" % (name.base_offset or 0)
        elif name.title:
            yield b"%b\n" % name.title.encode()
        if name.kind in (FileKind.LOG, FileKind.METADATA_SNAPSHOT):
            from model.log.dump.log_text import log_text  # noqa: PLC0415 - takes numpy

            yield from log_text(source, Path(path).name, options)
            return
        for part in _facts(source, path, name, options):
            if isinstance(part, Line):
                yield options.show(part.line().encode()) + b"\n"
            elif not isinstance(part, Fact):
                yield part


def _facts(source: ByteSource, path: str, name: FileName, options: DumpOptions) -> Iterator[Fact | Damage | Remark]:
    match name.kind:
        case FileKind.LOG | FileKind.METADATA_SNAPSHOT:
            return log_facts(source, options)
        case FileKind.OFFSET_INDEX | FileKind.TIME_INDEX:
            return index_facts(source, path, name, options)
        case FileKind.TRANSACTION_INDEX:
            return transaction_index_entries(source)
        case FileKind.PRODUCER_SNAPSHOT:
            return snapshot_producers(source)
        case FileKind.OFFSET_CHECKPOINT:
            return offset_checkpoint(source)
        case FileKind.EPOCH_CHECKPOINT:
            return epoch_checkpoint(source)
        case FileKind.PROPERTIES:
            return properties(source)

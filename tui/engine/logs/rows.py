"""The lists of the logs screen: partition folders, a log's segments, a page of batches, the records of one.

Segments are a table, or bars of their sizes. Damage is a row where it lies.
"""

from collections.abc import Sequence

from model.analyses.scans.folders import FoundLogFolder, FoundPartition
from model.log.names import FolderRole
from model.log.records import Damage, Record, RecordBatch, control_type
from tui.engine.filters import ListField, Numbers, Texts, whole_numbers
from tui.engine.glyphs import bar
from tui.engine.listing import Listing, place_in
from tui.engine.logs.reader import FoundLogs, Log, LogReader, SegmentFacts, name_of
from tui.engine.logs.segments import (
    BAD_HEADERS,
    BatchPage,
    RecordPage,
    SegmentCheck,
    bytes_as_text,
    key_of,
    path_key,
    size_text,
    verdict,
)
from tui.engine.rows import Column, Line, Row, line, span
from tui.engine.sheets import clock_text, date_text

PARTITION_COLUMNS = (
    Column("partition", -18, "<", "name"),
    Column("broker", 6, ">", "broker", rank=1),
    Column("size", 9, ">", "size", rank=1),
    Column("state", 14, "<", "state"),
    Column("segs", 5, ">", "segments", rank=2),
    Column("from", 8, ">", "from", rank=3),
    Column("high wm", 8, ">", "high", rank=3),
)
ROLES = {FolderRole.DELETE: "to be deleted", FolderRole.FUTURE: "moves in", FolderRole.STRAY: "stray"}


def log_partitions(reader: LogReader, found: FoundLogs) -> Listing:
    """Every partition folder; those of one partition on several brokers beside each other."""
    rows = found.rows
    checks = [reader.checks_of(each) for _, each in rows]
    keys = [path_key(each.path) for _, each in rows]

    def fields() -> dict[str, ListField]:
        return {
            "name": Texts(lambda: [path_key(name_of(each)) for _, each in rows]),
            "broker": whole_numbers(folder.broker for folder, _ in rows),
            "segments": whole_numbers(len(each.segments) for _, each in rows),
            "size": whole_numbers(_partition_bytes(each) for _, each in rows),
            "from": whole_numbers(_from(each) for _, each in rows),
            "high": whole_numbers(each.high_watermark for _, each in rows),
            "state": Texts(
                lambda: [_partition_state(each, known)[1][0] for (_, each), known in zip(rows, checks, strict=True)]
            ),
        }

    return Listing(
        count=len(rows),
        fields=fields,
        shown=("name", "broker", "state"),
        row=lambda index: _partition_row(keys[index], *rows[index], checks[index]),
        place=place_in(keys),
        columns=PARTITION_COLUMNS,
        made_from=(found, *(check for known in checks for check in known)),
    )


def _partition_row(key: str, folder: FoundLogFolder, found: FoundPartition, checks: list[SegmentCheck]) -> Row:
    mark, state = _partition_state(found, checks)
    first, high = _from(found), found.high_watermark
    return Row(
        key=key,
        cells=(
            line(path_key(name_of(found))),
            line("-" if folder.broker is None else str(folder.broker)),
            line(size_text(_partition_bytes(found))),
            line(state),
            line(f"{len(found.segments):,}"),
            line(span("-" if first < 0 else f"{first:,}", "dim")),
            line(span("-" if high < 0 else f"{high:,}", "dim")),
        ),
        mark=mark,
    )


def _partition_state(found: FoundPartition, checks: list[SegmentCheck]):
    mark, state = verdict(checks, len(found.segments))
    role = ROLES.get(found.role)
    return (mark, state) if mark or role is None else ("-", span(role, "warn"))


def _partition_bytes(found: FoundPartition) -> int:
    return sum(segment.bytes for segment in found.segments)


def _from(found: FoundPartition) -> int:
    return found.segments[0].base_offset if found.segments else -1


_BASE = Column("base offset", 13, ">", "base")
_SIZE = Column("size", 9, ">", "size", rank=1)
_STATE = Column("state", 14, "<", "state")
SEGMENT_TABLE = (
    _BASE,
    _SIZE,
    Column("newest record", 20, "<", "newest", rank=2),
    Column("index", 6, ">", rank=4),
    Column("batches", 8, ">", rank=3),
    Column("state", -13, "<", "state"),
)
SEGMENT_BARS = (_BASE, _SIZE, Column("bytes", -10), _STATE)
_OTHERS = 46
"""Cells of a row of bars that are no bar."""


def log_segments(log: Log, path: str, view: str, width: int) -> Listing:
    """By base offset; the last one is the active segment, the one that is written."""
    segments = log.segments
    most = max((each.bytes for each in segments), default=0)

    def fields() -> dict[str, ListField]:
        return {
            "base": whole_numbers(each.base_offset for each in segments),
            "size": whole_numbers(each.bytes for each in segments),
            "newest": whole_numbers(each.newest_ms for each in segments),
            "state": Texts(lambda: [_segment_state(each)[1][0] for each in segments]),
        }

    def row(index: int) -> Row:
        each = segments[index]
        mark, state = _segment_state(each)
        head = line(str(each.base_offset)), line(size_text(each.bytes))
        rest = (_bar(each, most, width), line(state)) if view == "bars" else (*_segment_facts(each), line(state))
        return Row(key=key_of(path, each.base_offset), cells=(*head, *rest), mark=mark)

    return Listing(
        count=len(segments),
        fields=fields,
        shown=("base", "state"),
        row=row,
        place=place_in([key_of(path, each.base_offset) for each in segments]),
        columns=SEGMENT_BARS if view == "bars" else SEGMENT_TABLE,
        made_from=(log,),
        nothing="no segments here",
    )


def _segment_facts(each: SegmentFacts) -> tuple[Line, ...]:
    batches = "-" if each.check is None or not each.check.is_done else f"{each.check.batches:,}"
    return line(span(date_text(each.newest_ms), "dim")), line(f"{each.index_entries:,}"), line(batches)


def _bar(each: SegmentFacts, most: int, width: int) -> Line:
    return line(span(bar(each.bytes / max(most, 1), max(width - _OTHERS, 10)), "info"))


def _segment_state(each: SegmentFacts):
    mark, state = verdict([each.check] if each.check else [], 1)
    if not mark and each.complaints:
        return "!", span("bad index", "warn")
    return (mark, span("active", "ok")) if each.is_active and not mark else (mark, state)


MORE, DAMAGE = "more", "damage"
"""What stands behind the last tab in the key of a row that is no batch and no record."""

BATCH_COLUMNS = (
    Column("offsets", -17, "<", "offset"),
    Column("byte", 11, ">", "byte", rank=3),
    Column("size", 9, ">", "size", rank=1),
    Column("records", 7, ">", "records", rank=1),
    Column("time", 8, "<", rank=2),
    Column("what", 14, "<", "what"),
)
RECORD_COLUMNS = (
    Column("offset", 11, ">", "offset"),
    Column("time", 20, "<", rank=2),
    Column("key", 12, "<", "key", rank=1),
    Column("value", -20, "<", "value"),
)


def log_batches(page: BatchPage, path: str, base: int) -> Listing:
    """Batches by position; a last row leads on where there are more."""
    batches = page.batches
    ends = _after(page, key_of(path, base))
    keys = [*(key_of(path, base, each.position) for each in batches), *(row.key for row in ends)]
    count = len(batches)

    def numbers(values: Sequence[int]) -> Numbers:
        return whole_numbers([*values, *[-1 for _ in ends]])

    def fields() -> dict[str, ListField]:
        return {
            "offset": numbers([each.base_offset for each in batches]),
            "byte": numbers([each.position for each in batches]),
            "size": numbers([each.size for each in batches]),
            "records": numbers([each.count for each in batches]),
            "what": Texts(lambda: [*(_what(each, page) for each in batches), *(row.key for row in ends)]),
        }

    return Listing(
        count=len(keys),
        fields=fields,
        shown=("offset", "what"),
        row=lambda index: _batch_row(keys[index], batches[index], page) if index < count else ends[index - count],
        place=place_in(keys),
        columns=BATCH_COLUMNS,
        made_from=(page,),
        nothing="no batches yet",
    )


def _after(page: BatchPage, segment: str) -> list[Row]:
    """The row behind the batches."""
    if page.damage is not None:
        return [_damage_row(page.damage, f"{segment}\t{page.damage.position}\t{DAMAGE}")]
    if page.after is None:
        return []
    left = span(f"{size_text(page.size - page.after)} follow", "dim")
    cells = line(span("enter goes on", "strong")), line(f"{page.after:,}"), line(left)
    return [Row(f"{segment}\t{page.after}\t{MORE}", cells, mark="+")]


def _damage_row(damage: Damage, key: str) -> Row:
    cells = line(span("cannot be read", "error")), line(f"{damage.position:,}"), line(size_text(damage.size))
    return Row(key, (*cells, line(), line(), line(span(damage.kind, "error"))), mark="X")


def _batch_row(key: str, batch: RecordBatch, page: BatchPage) -> Row:
    is_valid = batch.position not in page.damaged
    count = "?" if batch.count < 0 else f"{batch.count:,}"
    return Row(
        key=key,
        cells=(
            line(offsets_text(batch)),
            line(span(f"{batch.position:,}", "dim")),
            line(size_text(batch.size)),
            line(count),
            line(span(clock_text(batch.max_timestamp)[:8], "dim")),
            line(span(_what(batch, page), "" if is_valid else "error")),
        ),
        mark="" if is_valid else "X",
    )


def offsets_text(batch: RecordBatch) -> str:
    """`46-47`; one number for a batch of one."""
    first, last = batch.base_offset, batch.last_offset
    return f"{first}" if first == last else f"{first}-{last}"


def _what(batch: RecordBatch, page: BatchPage) -> str:
    codec = "unknown codec" if batch.codec is None else batch.codec.name.lower()
    words = (
        *(BAD_HEADERS[kind] for kind in page.damaged.get(batch.position, ())),
        "control" if batch.is_control else "transaction" if batch.is_transactional else "",
        "" if codec == "none" else codec,
        "" if batch.magic >= 2 else f"format v{batch.magic}",
    )
    return " ".join(word for word in words if word)


def log_records(page: RecordPage, path: str, base: int, position: int) -> Listing:
    """Records by offset."""
    records, batch = page.records, f"{key_of(path, base, position)}"
    ends: list[Row] = []
    if page.damage is not None:
        cells = line(), line(span("cannot be read", "error")), line(), line(span(page.damage.cause, "error"))
        ends = [Row(f"{batch}\t{DAMAGE}", cells, mark="X")]
    elif page.is_cut:
        ends = [Row(f"{batch}\t{MORE}", (line(), line(span(f"only the first {len(records):,} are shown", "dim"))))]
    keys = [*(key_of(batch, each.offset) for each in records), *(row.key for row in ends)]
    is_control = page.batch is not None and page.batch.is_control

    def fields() -> dict[str, ListField]:
        blank = ["" for _ in ends]
        return {
            "offset": whole_numbers([*(each.offset for each in records), *(-1 for _ in ends)]),
            "key": Texts(lambda: [*(bytes_as_text(each.key) for each in records), *blank]),
            "value": Texts(lambda: [*(bytes_as_text(each.value) for each in records), *blank]),
        }

    count = len(records)
    return Listing(
        count=len(keys),
        fields=fields,
        shown=("offset", "key", "value"),
        row=lambda at: _record_row(keys[at], records[at], is_control=is_control) if at < count else ends[at - count],
        place=place_in(keys),
        columns=RECORD_COLUMNS,
        made_from=(page,),
        nothing="no record is left of this batch" if page.batch else "this batch is not there any more",
    )


def _record_row(key: str, record: Record, *, is_control: bool) -> Row:
    kind = control_type(record.key) if is_control else None
    first: Line = line(span(kind.name.lower(), "keyword")) if kind is not None else _bytes_line(record.key)
    time = line(span(date_text(record.timestamp), "dim"))
    return Row(
        key, (line(str(record.offset)), time, first, _bytes_line(record.value)), mark="" if record.crc_valid else "X"
    )


def _bytes_line(data: bytes | None) -> Line:
    return line(span(bytes_as_text(data), "dim" if data is None else ""))

"""A page of a segment's batches, and the records of one batch; damage is a row where it lies."""

from collections.abc import Sequence

import numpy as np

from model.log.records import Damage, Record, RecordBatch, control_type
from tui.data.fields import Field, Numbers, Texts
from tui.data.logs.contents import BatchPage, RecordPage
from tui.data.logs.keys import key_of
from tui.data.pages.ages import clock_text, date_text
from tui.data.pages.listing import Listing, place_in
from tui.data.pages.logs.wording import BAD_HEADERS, bytes_as_text, size_text
from tui.rows import Column, Line, Row, line, span

MORE, DAMAGE = "more", "damage"
"""What stands behind the last tab in the key of a row that is no batch and no record."""

BATCH_COLUMNS = (
    Column("offsets", -17, "<", "offset"),
    Column("byte", 11, ">", "byte"),
    Column("size", 9, ">", "size"),
    Column("records", 7, ">", "records"),
    Column("time", 8, "<"),
    Column("what", 14, "<", "what"),
)
RECORD_COLUMNS = (
    Column("offset", 11, ">", "offset"),
    Column("time", 20, "<"),
    Column("key", 12, "<", "key"),
    Column("value", -20, "<", "value"),
)


def log_batches(page: BatchPage, path: str, base: int) -> Listing:
    """Batches by position; a last row leads on where there are more."""
    batches = page.batches
    ends = _after(page, key_of(path, base))
    keys = [*(key_of(path, base, each.position) for each in batches), *(row.key for row in ends)]
    count = len(batches)

    def numbers(values: Sequence[int]) -> Numbers:
        return Numbers(np.array([*values, *[-1 for _ in ends]], np.int64))

    def fields() -> dict[str, Field]:
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

    def fields() -> dict[str, Field]:
        blank = ["" for _ in ends]
        return {
            "offset": Numbers(np.array([*(each.offset for each in records), *(-1 for _ in ends)], np.int64)),
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
    first: Line = line(span(kind.name.lower(), "keyword")) if kind is not None else _bytes(record.key)
    time = line(span(date_text(record.timestamp), "dim"))
    return Row(key, (line(str(record.offset)), time, first, _bytes(record.value)), mark="" if record.crc_valid else "X")


def _bytes(data: bytes | None) -> Line:
    return line(span(bytes_as_text(data), "dim" if data is None else ""))

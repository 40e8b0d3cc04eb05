"""Partition folders on this machine: how large, from which offset on, and whether they are whole."""

import numpy as np

from model.log.names import FolderRole
from spark_tasks.scans.parameters import FoundLogFolder, FoundPartition
from tui.data.fields import Field, Numbers, Texts
from tui.data.logs.checks import Check
from tui.data.logs.found_logs import FoundLogs, name_of
from tui.data.logs.keys import path_key
from tui.data.logs.reader import LogReader
from tui.data.pages.listing import Listing, place_in
from tui.data.pages.logs.wording import size_text, verdict
from tui.rows import Column, Row, line, span

COLUMNS = (
    Column("partition", -18, "<", "name"),
    Column("broker", 6, ">", "broker"),
    Column("size", 9, ">", "size"),
    Column("state", 14, "<", "state"),
    Column("segs", 5, ">", "segments"),
    Column("from", 8, ">", "from"),
    Column("high wm", 8, ">", "high"),
)
ROLES = {FolderRole.DELETE: "to be deleted", FolderRole.FUTURE: "moves in", FolderRole.STRAY: "stray"}


def log_partitions(reader: LogReader, found: FoundLogs) -> Listing:
    """Every partition folder; those of one partition on several brokers beside each other."""
    rows = found.rows
    checks = [reader.checks_of(each) for _, each in rows]
    keys = [path_key(each.path) for _, each in rows]

    def numbers(values: list[int]) -> Numbers:
        return Numbers(np.array(values, np.int64))

    def fields() -> dict[str, Field]:
        return {
            "name": Texts(lambda: [path_key(name_of(each)) for _, each in rows]),
            "broker": numbers([-1 if folder.broker is None else folder.broker for folder, _ in rows]),
            "segments": numbers([len(each.segments) for _, each in rows]),
            "size": numbers([_bytes(each) for _, each in rows]),
            "from": numbers([_from(each) for _, each in rows]),
            "high": numbers([each.high_watermark for _, each in rows]),
            "state": Texts(lambda: [_state(each, known)[1][0] for (_, each), known in zip(rows, checks, strict=True)]),
        }

    return Listing(
        count=len(rows),
        fields=fields,
        shown=("name", "broker", "state"),
        row=lambda index: _row(keys[index], *rows[index], checks[index]),
        place=place_in(keys),
        columns=COLUMNS,
        made_from=(found, *(check for known in checks for check in known)),
    )


def _row(key: str, folder: FoundLogFolder, found: FoundPartition, checks: list[Check]) -> Row:
    mark, state = _state(found, checks)
    first, high = _from(found), found.high_watermark
    return Row(
        key=key,
        cells=(
            line(path_key(name_of(found))),
            line("-" if folder.broker is None else str(folder.broker)),
            line(size_text(_bytes(found))),
            line(state),
            line(f"{len(found.segments):,}"),
            line(span("-" if first < 0 else f"{first:,}", "dim")),
            line(span("-" if high < 0 else f"{high:,}", "dim")),
        ),
        mark=mark,
    )


def _state(found: FoundPartition, checks: list[Check]):
    mark, state = verdict(checks, len(found.segments))
    role = ROLES.get(found.role)
    return (mark, state) if mark or role is None else ("-", span(role, "warn"))


def _bytes(found: FoundPartition) -> int:
    return sum(segment.bytes for segment in found.segments)


def _from(found: FoundPartition) -> int:
    return found.segments[0].base_offset if found.segments else -1

"""Records of a KRaft cluster's metadata log: the last of them as a list, one in full, those that wrote an entry.

And who led the quorum from when to when, by the elections among them. What is shown has no secrets.
"""

import json
from collections.abc import Callable, Sequence

from model.metadata_log.entry_history import EntryChange, entry_changes, stated_by
from model.metadata_log.journal import LEADER_CHANGE, MOST_RECORDS, Logged
from model.znodes.history import difference_text
from tui.engine.filters import ListField, Texts, whole_numbers
from tui.engine.listing import Listing
from tui.engine.messages import TextAnswer
from tui.engine.rows import Column, Row, line, span
from tui.engine.sheets import Sheet, clock_text, duration_text, shortened, stamp_text

COLUMNS = (
    Column("time", 12),
    Column("offset", 9, ">", rank=1),
    Column("epoch", 5, ">", rank=3),
    Column("record", -24),
    Column("about", -24, rank=1),
    Column("says", -20, rank=2),
)
NO_RECORDS = "no record was written since the log was opened: what a snapshot holds has none"
MOST_SAID = 400
"""Characters of what a record says, in a list."""
MOST_CHARACTERS = 2_000
MOST_CHANGES = 200
"""Records of one history; the rest is counted."""
MOST_TERMS_SHOWN = 12


def records_listing(records: tuple[Logged, ...]) -> Listing:
    """Newest first."""

    def texts(of: Callable[[Logged], str]) -> Texts:
        return Texts(lambda: [of(record) for record in reversed(records)])

    def fields() -> dict[str, ListField]:
        return {
            "offset": whole_numbers(record.offset for record in reversed(records)),
            "epoch": whole_numbers(record.epoch for record in reversed(records)),
            "record": texts(named),
            "about": texts(lambda record: record.path),
            "says": texts(said),
        }

    return Listing(
        count=len(records),
        fields=fields,
        shown=("record", "about", "says"),
        row=lambda index: _row(records[-1 - index]),
        place=lambda key: _place(records, key),
        columns=COLUMNS,
        made_from=(records,),
        nothing=NO_RECORDS,
    )


def _place(records: Sequence[Logged], key: str) -> int:
    return next((at for at, record in enumerate(reversed(records)) if str(record.offset) == key), -1)


def named(record: Logged) -> str:
    """`PartitionChange v1`."""
    return f"{record.kind} v{record.version}"


def said(record: Logged) -> str:
    """What it says of its entry, in a line."""
    return ", ".join(f"{name} {_value(value)}" for name, value in stated_by(record).items())


def _value(value: object) -> str:
    if value is None:
        return "gone"
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(each, dict) and "voterId" in each for each in value):
        return ",".join(str(each["voterId"]) for each in value)
    if isinstance(value, list):
        return ",".join(map(str, value)) if all(isinstance(each, int | str) for each in value) else _json(value)
    return _json(value)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), default=str)


_STYLES = {"LeaderChange": "controller", "KRaftVoters": "controller", "PartitionChange": "changed"}


def _row(record: Logged) -> Row:
    is_gone = record.kind.startswith(("Remove", "Unregister"))
    return Row(
        key=str(record.offset),
        cells=(
            line(span(clock_text(record.time_ms), "dim")),
            line(span(f"{record.offset:,}", "number")),
            line(span(record.epoch, "dim")),
            line(span(named(record), "removed" if is_gone else _STYLES.get(record.kind, ""))),
            line(record.path),
            line(span(shortened(said(record), MOST_SAID), "dim")),
        ),
    )


def written_by(path: str, records: Sequence[Logged]) -> str:
    """Which of these records wrote what is at this path, one line; empty where none did."""
    record = next((each for each in reversed(records) if each.path == path), None)
    if record is None:
        return ""
    return f"written by {named(record)}, offset {record.offset:,} of the metadata log, {stamp_text(record.time_ms)}"


def record_text(records: Sequence[Logged], key: str, width: int) -> TextAnswer:
    """The record with this offset, all of it, and what it changed of its entry."""
    sheet = Sheet(f"record {key}", width)
    record = next((each for each in reversed(records) if str(each.offset) == key), None)
    if record is None:
        return sheet.say("this record is not remembered any more", "dim").answer()
    sheet.fact("record", named(record), "strong").fact("offset", f"{record.offset:,}, epoch {record.epoch}")
    sheet.fact("time", f"{stamp_text(record.time_ms)}, that of its batch")
    sheet.fact("about", record.path or "no place in the tree").gap()
    changes = entry_changes((each for each in records if each.offset <= record.offset), record.path or "?")
    change = next((each for each in reversed(changes) if each.record is record), None)
    if change is not None:
        _tell(sheet, change)
        sheet.gap()
    pretty = json.dumps(dict(record.fields), indent=2, default=str)
    for text in pretty.split("\n"):
        sheet.draw(shortened(text, MOST_CHARACTERS))
    return sheet.answer()


def record_history(path: str, records: Sequence[Logged], width: int) -> TextAnswer:
    """The records that wrote what is at this path and below, newest first."""
    sheet = Sheet(path, width)
    changes = entry_changes(records, path)
    if not changes:
        sheet.say("no record that wrote it is remembered: it is from a snapshot, or was written before", "warn").gap()
    for change in changes[: -MOST_CHANGES - 1 : -1]:
        record = change.record
        place = f"  {record.path}" if record.path != path else ""
        sheet.draw(
            (stamp_text(record.time_ms), "strong"),
            f"  {named(record)}",
            (f"  offset {record.offset:,}  epoch {record.epoch}{place}", "dim"),
        )
        _tell(sheet, change)
        sheet.gap()
    if len(changes) > MOST_CHANGES:
        sheet.say(f"{len(changes) - MOST_CHANGES:,} earlier records more", "dim")
    return sheet.say(_reach(records), "dim").answer()


def _reach(records: Sequence[Logged]) -> str:
    if not records:
        return f"Records are remembered since the log was opened, up to {MOST_RECORDS:,} of them."
    first = records[0]
    return (
        f"Records of the log since {stamp_text(first.time_ms)} (offset {first.offset:,}), up to {MOST_RECORDS:,} of "
        "them: the oldest go first."
    )


def _tell(sheet: Sheet, change: EntryChange) -> None:
    if change.is_gone:
        sheet.say("gone", "removed")
        return
    if change.is_first:
        for name, value in stated_by(change.record).items():
            sheet.say(shortened(f"{name} {_value(value)}", MOST_CHARACTERS))
        return
    for each in change.differences:
        sheet.say(shortened(difference_text(each), MOST_CHARACTERS), "changed")
    if not change.differences:
        sheet.say("the same, written again", "dim")


def tell_terms(sheet: Sheet, terms: Sequence[Logged], until: int) -> None:
    """Who led from when to when, newest first, and when the voters changed; up to an offset."""
    lines = _terms([term for term in terms if term.offset <= until])
    if not lines:
        sheet.say("No election is among the records that are known.", "dim")
    for name, text, style in lines[: -MOST_TERMS_SHOWN - 1 : -1]:
        sheet.fact(name, text, style)
    if len(lines) > MOST_TERMS_SHOWN:
        sheet.fact("", f"{len(lines) - MOST_TERMS_SHOWN:,} earlier ones", "dim")


def _terms(terms: Sequence[Logged]) -> list[tuple[str, str, str]]:
    """Name, text and style of each line, oldest first."""
    elected_ms = [term.time_ms for term in terms if term.kind == LEADER_CHANGE][1:]
    ends = iter([*elected_ms, None])
    voters: tuple[int, ...] | None = None
    lines: list[tuple[str, str, str]] = []
    for term in terms:
        now = tuple(sorted(each["voterId"] for each in term.fields["voters"]))
        if term.kind == LEADER_CHANGE:
            text, style = _led(term, next(ends))
            lines.append((f"epoch {term.epoch}", text, style))
        if voters not in (None, now):
            text = f"{stamp_text(term.time_ms)[:19]}: voters {_ids(voters or ())} -> {_ids(now)}"
            lines.append(("", text, "changed"))
        voters = now
    return lines


def _led(term: Logged, end_ms: int | None) -> tuple[str, str]:
    leader, since = term.fields["leaderId"], stamp_text(term.time_ms)[:19]
    if end_ms is None:
        return f"controller {leader} since {since}", "controller"
    return f"controller {leader} {since} to {clock_text(end_ms)[:8]}, {duration_text(end_ms - term.time_ms)}", ""


def _ids(voters: Sequence[int]) -> str:
    return ",".join(map(str, voters))

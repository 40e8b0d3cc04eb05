"""Every list and text of the sandbox by its name: what runs in it, its links, what is broken, how its load fares.

How a member of a ZooKeeper group sees its group is made of the lines that the member said (`python -m
model.hosts.zookeeper_consumer`): others may see it otherwise, which is how its kind goes wrong.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from model.consumers.zookeeper_groups import events_and_commands
from model.consumers.zookeeper_groups.events_and_commands import (
    AttemptFailed,
    ClaimConflicted,
    GroupRead,
    Happening,
    OffsetsCommitted,
    PartitionsClaimed,
    RebalanceEnded,
    SessionLost,
)
from model.sandbox.messages import LinkView, LoadView, ProcessView, SandboxState, uses
from model.sandbox.options import short_place
from tui.engine.filters import ListField, Texts, whole_numbers
from tui.engine.listing import Listing, place_in
from tui.engine.messages import TextAnswer
from tui.engine.queries import ProcessList, ProcessText, SandboxText
from tui.engine.rows import Column, Row, line, span
from tui.engine.sandbox.service import link_key
from tui.engine.sheets import Sheet, age_ms, age_text, clock_text, date_text

HAPPENING_STYLES = {ClaimConflicted: "warn", AttemptFailed: "warn", SessionLost: "error"}


class _When(msgspec.Struct, frozen=True):
    at_ms: int


_SAID = msgspec.json.Decoder(
    events_and_commands.Registered
    | events_and_commands.RebalanceBegan
    | events_and_commands.PartitionsReleased
    | events_and_commands.Left
    | OffsetsCommitted
    | GroupRead
    | PartitionsClaimed
    | ClaimConflicted
    | AttemptFailed
    | RebalanceEnded
    | SessionLost
)
_WHEN = msgspec.json.Decoder(_When)


def is_member_log(lines: Iterable[str]) -> bool:
    """Whether such a member said these lines."""
    return any('"happening"' in line for line in lines)


def tell_member_view(sheet: Sheet, lines: Iterable[str]) -> Sheet:
    """Its view of the group, how often it was in conflict, and what happened to it, the newest first."""
    said = [happened for line in lines if (happened := _happened(line)) is not None]
    view = next((one for _, one in reversed(said) if isinstance(one, GroupRead)), None)
    if view is not None:
        sheet.fact("sees", f"members {', '.join(view.members)}")
        sheet.fact("", ", ".join(f"{topic} ({count})" for topic, count in sorted(view.partitions.items())))
    conflicts = sum(isinstance(one, ClaimConflicted) for _, one in said)
    sheet.fact("conflicts", f"{conflicts:,} claims found another owner", "warn" if conflicts else "ok").gap()
    for at_ms, one in reversed(said):
        if not isinstance(one, OffsetsCommitted):
            sheet.fact(clock_text(at_ms)[:-4], str(one), HAPPENING_STYLES.get(type(one), ""))
    return sheet


def _happened(line: str) -> tuple[int, Happening] | None:
    try:
        return _WHEN.decode(line).at_ms, _SAID.decode(line)
    except msgspec.MsgspecError:
        return None


LINK_COLUMNS = (Column("link", -15, "<", "name"), Column("state", 11, "<", "state"))
LINK_SIGNS = {"open": ("", "ok"), "cut": ("X", "dead"), "slow": ("~", "warn")}
"""State → mark and style."""


def sandbox_links(state: SandboxState, *_: object) -> Listing:
    """Each broker's links with ZooKeeper or controllers, and with clients, then those between nodes of a kind."""
    links = state.links
    fields: dict[str, ListField] = {
        "name": Texts(lambda: [_name(link) for link in links]),
        "state": Texts(lambda: [link.status for link in links]),
    }
    return Listing(
        count=len(links),
        fields=lambda: fields,
        shown=("name", "state"),
        row=lambda index: _link_row(links[index]),
        place=place_in([link_key(link) for link in links]),
        columns=LINK_COLUMNS,
        made_from=(state,),
        nothing="no links",
    )


def _name(link: LinkView) -> str:
    return " - ".join(map(short_place, link.between))


def _link_row(link: LinkView) -> Row:
    mark, style = LINK_SIGNS[link.status]
    word = f"slow {link.delay_ms:,.0f} ms" if link.status == "slow" else link.status
    return Row(key=link_key(link), cells=(line(_name(link)), line(span(word, style))), mark=mark)


PROCESS_COLUMNS = (
    Column("process", 24, "<", "name"),
    Column("state", 8, "<", "state"),
    Column("since", 5, ">", "age", rank=2),
    Column("pid", 8, ">", "pid", rank=3),
    Column("what", -12, rank=1),
)
PROCESS_SIGNS: Mapping[str, tuple[str, str]] = {
    "running": ("", "ok"),
    "starting": ("+", "waiting"),
    "paused": ("~", "warn"),
    "stopped": ("-", "dim"),
    "killed": ("X", "dead"),
    "crashed": ("X", "error"),
}
"""State → mark and style."""

LAST_LINES = 200
LAST_BYTES = 256 << 10


def sandbox_processes(state: SandboxState, _: ProcessList, now_ms: int, *__: object) -> Listing:
    """Servers, brokers, load; in that order."""
    processes = state.processes
    fields: dict[str, ListField] = {
        "name": Texts(lambda: [one.name for one in processes]),
        "state": Texts(lambda: [one.status for one in processes]),
        "detail": Texts(lambda: [_what(one) for one in processes]),
        "age": whole_numbers((age_ms(one.since_ms, now_ms) for one in processes), is_duration=True),
        "pid": whole_numbers(one.pid or -1 for one in processes),
    }
    return Listing(
        count=len(processes),
        fields=lambda: fields,
        shown=("name", "state", "detail"),
        row=lambda index: _process_row(processes[index], now_ms),
        place=place_in([one.name for one in processes]),
        columns=PROCESS_COLUMNS,
        made_from=(state,),
        nothing="nothing runs yet",
    )


def _what(process: ProcessView) -> str:
    return "  ".join(text for text in (process.detail, process.address) if text)


def _process_row(process: ProcessView, now_ms: int) -> Row:
    mark, style = PROCESS_SIGNS[process.status]
    return Row(
        key=process.name,
        cells=(
            line(process.name),
            line(span(process.status, style)),
            line(span(age_text(process.since_ms, now_ms), "dim")),
            line(span(process.pid or "-", "dim")),
            line(_what(process)),
        ),
        mark=mark,
    )


def process_text(state: SandboxState, query: ProcessText, now_ms: int, *_: object) -> TextAnswer:
    """The process whose name is the key, with the end of what it said."""
    sheet = Sheet(query.key, query.width)
    process = next((one for one in state.processes if one.name == query.key), None)
    if process is None:
        return sheet.say("there is no such process (any more)", "warn").answer()
    sheet.fact("state", process.status, PROCESS_SIGNS[process.status][1])
    sheet.fact("since", f"{date_text(process.since_ms)}, {age_text(process.since_ms, now_ms)} ago")
    sheet.fact("pid", str(process.pid or "-")).fact("address", process.address or "-")
    sheet.fact("detail", process.detail or "-").fact("log", process.log or "-").gap()
    if process.kind == "broker":
        for client, use in uses(process.address, "TOPIC").items():
            sheet.fact(client, use, "dim")
        sheet.gap()
    elif process.kind == "controller":
        sheet.fact("kdrill", f"kdrill controllers://{process.address}", "dim")
        sheet.fact(
            "tool", f"kafka-metadata-quorum.sh --bootstrap-controller {process.address} describe --status", "dim"
        )
        sheet.gap()
    lines = _end_of(process.log)
    if is_member_log(lines):
        return tell_member_view(sheet, lines).answer()
    for each in lines[-LAST_LINES:]:
        sheet.say(each)
    return sheet.answer()


def _end_of(log: str) -> list[str]:
    """The last lines of a log, as far as it can be read."""
    try:
        with Path(log).open("rb") as file:
            file.seek(max(file.seek(0, 2) - LAST_BYTES, 0))
            return file.read().decode(errors="replace").splitlines()
    except OSError:
        return []


def sandbox_standing(state: SandboxState, query: SandboxText, now_ms: int, *_: object) -> TextAnswer:
    """The box beside the processes."""
    sheet = Sheet("Sandbox", query.width)
    if state.load is None:
        sheet.fact("load", "none: kdrill sandbox --load brings a producer and consumers", "dim")
    else:
        _tell_load(sheet, state.load)
    if not state.faults:
        return sheet.gap().say("nothing is broken: K kills the broker under the cursor", "dim").answer()
    sheet.gap().say(f"{len(state.faults)} to be undone, u the newest, 0 all:", "heading")
    for fault in reversed(state.faults):
        undone = "" if fault.repair is not None else "; cannot be undone"
        sheet.fact(f"{age_text(fault.at_ms, now_ms)} ago", fault.text + undone, "warn")
    return sheet.answer()


def _tell_load(sheet: Sheet, load: LoadView) -> None:
    speed = f"{load.acknowledged_per_s:,.0f} of {load.rate:,.0f} a second"
    sheet.fact("produced", f"{load.acknowledged:,} acknowledged, {speed}")
    sheet.fact("waiting", f"{load.waiting:,} without an answer", "warn" if load.waiting > load.rate else "")
    sheet.fact("consumed", f"{load.consumed:,}, {load.consumed_per_s:,.0f}/s")
    sheet.fact("lost", f"{load.lost:,} acknowledged records known to be lost", "error" if load.lost else "ok")
    if load.error:
        sheet.fact("error", load.error, "warn")

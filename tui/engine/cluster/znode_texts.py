"""One znode in full: payload decoded or raw, its Stat, who writes and watches it; and what it was, newest first.

The history has the values that were seen, each with its difference from the one before. Secrets are hidden
here, too.
"""

from collections.abc import Mapping, Sequence

import msgspec

from model.cluster.texts import counted
from model.sources.metadata_tree import LOGGED
from model.znodes.catalogue import EXPLANATIONS, SECRET_KINDS
from model.znodes.codec import decode, payload_version, redact
from model.znodes.history import (
    NOBODY_KNOWN,
    PATH_VERSIONS,
    TOTAL_BYTES,
    Version,
    difference_text,
    differences,
    state_writer,
)
from model.znodes.paths import describe, recognise
from model.znodes.payload import Unreadable
from model.zookeeper import Forbidden, Missing, Stat, TooLarge, Unread, Znode
from tui.engine.messages import TextAnswer
from tui.engine.rows import Line, line, span
from tui.engine.sheets import Sheet, shortened, stamp_text

SHOWN_BYTES = 65_536
"""Data beyond this is cut, with its size."""

HEX_WIDTH = 16


def znode_detail(
    path: str,
    znode: Znode | Unread | None,
    view: str,
    sessions: Mapping[int, int],
    versions: Sequence[Version] = (),
    controllers: Mapping[int, int] = NOBODY_KNOWN,
    written: str = "",
) -> TextAnswer:
    """Everything about one znode. `view` raw shows its bytes; `sessions` says which broker holds which session;
    `versions` are its values so far, oldest first; `controllers` says which broker had which controller epoch;
    `written`: which record of a metadata log wrote it, where that is known."""
    if not isinstance(znode, Znode):
        return TextAnswer(title=path, lines=(line(span(_absence(znode), "warn")),), plain=_absence(znode))
    data = redact(path, znode.data)
    body = _raw(data) if view == "raw" else _decoded(path, znode, data)
    if is_told(znode):
        lines = (*body, line(), line(span(written or _said(znode.stat), "dim")))
        return TextAnswer(title=path, lines=lines, plain=data.decode(errors="backslashreplace"))
    lines = (
        *body,
        line(),
        *_stat_lines(path, znode, sessions),
        line(),
        *_explanation(path, znode, versions, controllers),
    )
    return TextAnswer(title=path, lines=lines, plain=data.decode(errors="backslashreplace"))


def _said(stat: Stat) -> str:
    if stat.czxid == LOGGED:
        return f"written by offset {stat.mzxid:,} of the metadata log, {stamp_text(stat.mtime_ms)}"
    return f"as it was told; changed {counted(stat.version, 'time')} since it was looked at first"


def is_told(znode: Znode | Unread | None) -> bool:
    """Whether it is no znode of a ZooKeeper, but what brokers or a metadata log told, shown like one."""
    return isinstance(znode, Znode) and znode.stat.czxid < 0


def is_ephemeral(znode: Znode | Unread | None) -> bool:
    """Whether a session keeps this znode alive."""
    return isinstance(znode, Znode) and znode.stat.ephemeral_owner != 0


def _absence(znode: Unread | None) -> str:
    match znode:
        case None:
            return "not read: there is no connection to ZooKeeper"
        case Missing():
            return "there is no such node (any more)"
        case Forbidden():
            return "no permission: this session may not read it; give credentials that may"
        case TooLarge(_, length):
            return f"{length:,} bytes, which is too large to be Kafka's: nothing of it is kept"
        case _:
            return f"the server answers error {znode.code}"


def _decoded(path: str, znode: Znode, data: bytes) -> list[Line]:
    payload = decode(path, znode.data)
    lines: list[Line] = []
    if isinstance(payload, Unreadable):
        lines = [line(span(f"! unreadable: {payload.reason}", "error")), line()]
    if not data:
        return [*lines, line(span("no data", "dim"))]
    try:
        pretty = msgspec.json.format(data[:SHOWN_BYTES], indent=2).decode()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return [*lines, *_raw(data)]
    return [*lines, *(line(text) for text in pretty.split("\n"))]


def _raw(data: bytes) -> list[Line]:
    cut = data[:SHOWN_BYTES]
    try:
        lines = [line(text) for text in cut.decode().split("\n")]
    except UnicodeDecodeError:
        rows = [cut[start : start + HEX_WIDTH] for start in range(0, min(len(cut), 4096), HEX_WIDTH)]
        lines = [line(span(f"{i * HEX_WIDTH:06x}  ", "dim"), row.hex(" ")) for i, row in enumerate(rows)]
    rest = len(data) - len(cut)
    return [*lines, line(span(f"({rest:,} bytes more)", "dim"))] if rest else lines


def _stat_lines(path: str, znode: Znode, sessions: Mapping[int, int]) -> list[Line]:
    stat, about = znode.stat, describe(path)
    version = payload_version(decode(path, znode.data))
    owner = f" (broker {sessions[stat.ephemeral_owner]})" if stat.ephemeral_owner in sessions else ""
    kept = f"ephemeral, session {stat.ephemeral_owner:#x}{owner}" if stat.ephemeral_owner else "persistent"
    facts = [
        ("what", about.label + (f", since Kafka {about.since}" if about.since else "")),
        ("payload version", "-" if version is None else str(version)),
        ("data version", str(stat.version)),
        ("kept", kept),
        ("created", f"{stamp_text(stat.ctime_ms)}  czxid {stat.czxid:#x}"),
        ("written", f"{stamp_text(stat.mtime_ms)}  mzxid {stat.mzxid:#x}"),
        ("size", _size(stat)),
    ]
    return [_fact(name, value) for name, value in facts]


def _explanation(path: str, znode: Znode, versions: Sequence[Version], controllers: Mapping[int, int]) -> list[Line]:
    explained = EXPLANATIONS[recognise(path).kind]
    facts = [("who writes it", explained.written), ("who watches it", explained.watched)]
    if versions and versions[-1].mzxid == znode.stat.mzxid:
        last = state_writer(path, versions[-2] if len(versions) > 1 else None, versions[-1], controllers)
        facts += [("last write", last)] if last else []
    return [_fact(name, value) for name, value in facts]


def _fact(name: str, value: str) -> Line:
    return line(span(f"{name:16}", "dim"), value)


def _size(stat: Stat) -> str:
    return f"{stat.data_length:,} bytes, {stat.num_children:,} children"


MOST_DIFFERENCES = 40
"""Differences told of one value; the rest is counted."""

MOST_CHARACTERS = 2_000
"""Of a difference or a whole value."""

BOUNDS = (
    f"Values that kdrill saw since it began to look: up to {PATH_VERSIONS} of a znode, and {TOTAL_BYTES // 2**20} MiB "
    "of all znodes; what changed longest ago goes first."
)


def znode_history(
    path: str, versions: Sequence[Version], width: int, controllers: Mapping[int, int] = NOBODY_KNOWN
) -> TextAnswer:
    """The values of one znode, given oldest first; `controllers` says which broker had which controller epoch."""
    sheet = Sheet(path, width)
    if not versions:
        sheet.say("no value of it is remembered", "warn").gap()
    for index in range(len(versions) - 1, -1, -1):
        # What came after a deletion is compared with what was before it.
        before = next((one for one in reversed(versions[:index]) if one.data is not None), None)
        _value(sheet, path, before, versions[index])
        writer = state_writer(path, before, versions[index], controllers)
        if writer:
            sheet.say(writer, "dim")
        sheet.gap()
    return sheet.say(BOUNDS.replace("znode", "node") if _is_told(versions) else BOUNDS, "dim").answer()


def _is_told(versions: Sequence[Version]) -> bool:
    """Whether brokers told it: no transaction made it."""
    return any(version.czxid < 0 for version in versions if version.data is not None)


def _value(sheet: Sheet, path: str, before: Version | None, version: Version) -> None:
    if version.data is None:
        sheet.draw((stamp_text(version.at_ms), "strong"), ("  gone", "removed"), (", noticed then", "dim"))
        return
    zxid = "" if version.czxid < 0 else f"  mzxid={version.mzxid:#x}"
    sheet.draw((stamp_text(version.at_ms), "strong"), f"  v{version.version}", (zxid, "dim"))
    if before is None or before.data is None:
        sheet.say("created" if version.is_created else "the oldest value remembered", "dim")
        sheet.say(shortened(version.data.decode(errors="backslashreplace"), MOST_CHARACTERS) or "no data")
    else:
        _difference(sheet, path, before, before.data, version, version.data)


def _difference(sheet: Sheet, path: str, before: Version, old: bytes, version: Version, new: bytes) -> None:
    if before.czxid != version.czxid:
        sheet.say("created anew; against the value before:", "added")
    elif version.version - before.version > 1:
        missed = version.version - before.version - 1
        sheet.say(f"{missed:,} write{'s' if missed > 1 else ''} in between not seen", "warn")
    found = differences(old, new)
    for difference in found[:MOST_DIFFERENCES]:
        sheet.say(shortened(difference_text(difference), MOST_CHARACTERS), "changed")
    if len(found) > MOST_DIFFERENCES:
        sheet.say(f"{len(found) - MOST_DIFFERENCES:,} differences more", "dim")
    if not found:
        hides = recognise(path).kind in SECRET_KINDS
        sheet.say("written; no difference that may be shown" if hides else "the same value, written again", "dim")

"""One znode in full: payload decoded or raw, its Stat, whose session holds it. Secrets are hidden here too."""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from model.hosts.zookeeper.values import Forbidden, Missing, Stat, Unread, Znode
from model.znodes.codec import decode, payload_version
from model.znodes.paths import describe
from model.znodes.reasons import Unreadable
from model.znodes.secrets import redact
from tui.data.messages import TextAnswer
from tui.rows import Line, line, span

SHOWN_BYTES = 65_536
"""Data beyond this is cut, with its size."""

HEX_WIDTH = 16


def znode_detail(path: str, znode: Znode | Unread | None, view: str, sessions: Mapping[int, int]) -> TextAnswer:
    """Everything about one znode. `view` raw shows its bytes; `sessions` says which broker holds which session."""
    if not isinstance(znode, Znode):
        return TextAnswer(title=path, lines=(line(span(_absence(znode), "warn")),), plain=_absence(znode))
    data = redact(path, znode.data)
    body = _raw(data) if view == "raw" else _decoded(path, znode, data)
    lines = (*body, line(), *_stat_lines(path, znode, sessions))
    return TextAnswer(title=path, lines=lines, plain=data.decode(errors="backslashreplace"))


def is_ephemeral(znode: Znode | Unread | None) -> bool:
    """Whether a session keeps this znode alive."""
    return isinstance(znode, Znode) and znode.stat.ephemeral_owner != 0


def _absence(znode: Unread | None) -> str:
    match znode:
        case None:
            return "not read: there is no connection to ZooKeeper"
        case Missing():
            return "there is no such znode (any more)"
        case Forbidden():
            return "no permission: this session may not read it; give credentials that may"
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
    except (msgspec.MsgspecError, UnicodeDecodeError):
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
    return [*lines, line(span(f"… {rest:,} bytes more", "dim"))] if rest else lines


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
        ("created", f"{_time(stat.ctime_ms)}  czxid {stat.czxid:#x}"),
        ("written", f"{_time(stat.mtime_ms)}  mzxid {stat.mzxid:#x}"),
        ("size", _size(stat)),
    ]
    return [line(span(f"{name:16}", "dim"), value) for name, value in facts]


def _size(stat: Stat) -> str:
    return f"{stat.data_length:,} bytes, {stat.num_children:,} children"


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"

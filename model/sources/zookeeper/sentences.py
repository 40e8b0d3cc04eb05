"""What a ZooKeeper source says of its connection, each in one line. Decides nothing."""

from collections.abc import Sequence

from model.hosts.zookeeper.values import Connected, ConnectionState
from model.sources.zookeeper.tree_plan import Found

FLAPPING = "connected again; the connection broke a moment ago, so reading everything waits a little"


def unread_of(paths: Sequence[str]) -> str:
    """What was asked for and not told whole; empty where that was no znode."""
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{paths[0]}{more}" if paths else ""


def reason_of(state: ConnectionState) -> str:
    """Why a connection is not there, one line; empty where nothing is known."""
    return "" if isinstance(state, Connected) else state.reason


def no_kafka_here(found: Found, state: Connected) -> str:
    """Why this tree cannot be watched, one line."""
    if found.forbidden:
        return f"no permission to read {found.forbidden[0].path}: give this session credentials that may read it"
    if state.warning:
        return state.warning
    return "no Kafka cluster here: there is neither /brokers/ids nor /brokers/topics (is a chroot missing?)"


def server_line(state: Connected) -> str:
    """The server behind a connection: address, version and mode as far as they are known."""
    version = ".".join(map(str, state.server.version)) if state.server.version else ""
    return " ".join(part for part in (state.server.address, version, state.server.mode) if part)

"""How the attempts at a whole picture fare: how far they came, whether another can help, and what they cost."""

import socket
import ssl
from collections.abc import Sequence

from model.hosts.tls import PLAIN_ON_TLS
from model.hosts.zookeeper.protocol import Connected, ConnectionState
from model.hosts.zookeeper.settings import Usage, hosts_of
from model.sources.addresses import ZooKeeperAddress
from model.sources.source import FollowingCost, Progress
from model.sources.zookeeper.watching import FoundZnodes

TRIALS = 3
"""So often every server of an ensemble may answer the same question by garbage."""

BEHIND = "the server knows less than it has told before: its data was put back, or it is not to be trusted"


class AttemptCounter:
    """Counts answers of one attempt at a time. What an attempt is told again is no progress until it is farther."""

    def __init__(self) -> None:
        self._since: Usage | None = None
        """Before the attempt under way."""
        self._best = 0, 0
        self._unread = ""

    def begin(self, usage: Usage) -> None:
        """Everything is read from its beginning."""
        self._since = usage

    def fail(self, usage: Usage, unread: str) -> None:
        """That came to nothing; `unread` was asked for."""
        self._best, self._since = self._reached(usage), None
        self._unread = unread or self._unread

    def progress(self, usage: Usage) -> Progress:
        answers, pieces = self._reached(usage)
        return Progress(answers, pieces, usage.connections, self._unread)

    def _reached(self, usage: Usage) -> tuple[int, int]:
        """Answers, and pieces of long ones."""
        if (since := self._since) is None:
            return self._best
        return max(self._best, (usage.answers - since.answers, usage.pieces - since.pieces))


class Trust:
    """Whether what went wrong with the servers of an address can become right by trying again."""

    def __init__(self, address: ZooKeeperAddress) -> None:
        self._hosts = len(hosts_of(address.hosts))
        self._forgiven = 0

    def why_hopeless(self, usage: Usage, reason: str = "") -> str:
        """Why another attempt cannot help, one line with the last `reason` in it; empty where it may."""
        behind = usage.behind - self._forgiven
        if behind >= (1 if self._hosts == 1 else TRIALS * self._hosts):
            return BEHIND
        if usage.garbled >= TRIALS * self._hosts:
            return f"{reason or 'the answers are garbled'} ({usage.garbled} times the same)"
        return ""

    def forgive(self, usage: Usage) -> None:
        """Everything was read since: what a server knew before it does not matter any more."""
        self._forgiven = usage.behind


TRIAL_S = 1.0


def why_hopeless(address: ZooKeeperAddress, last: str, *, tls: bool) -> str | None:
    """Why no more patience helps, one line; None where it may help. `last` is what the last attempt failed of.

    That is where every host refuses connections or has no address, or speaks TLS where we do not, or the other way
    round. A host that is silent may only be slow.
    """
    hosts = hosts_of(address.hosts)
    refusals = [*map(_refusal, hosts)]
    if all(refusals):
        return last or refusals[-1]
    if any(_speaks_tls(host) is not (not tls) for host in hosts):
        return None
    return last if tls else PLAIN_ON_TLS


def _speaks_tls(host: tuple[str, int]) -> bool | None:
    """Whether the server answers a TLS greeting; None where it cannot be had. Trusts nobody, and tells nothing."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(host, TRIAL_S) as plain, context.wrap_socket(plain):
            return True
    except ssl.SSLError as error:
        # What ends without a word is a plain ZooKeeper, to which the greeting was a request that is far too long.
        return not isinstance(error, ssl.SSLEOFError) and "wrong_version" not in str(error.reason).lower()
    except (ConnectionResetError, BrokenPipeError):
        return False
    except (OSError, UnicodeError):
        return None


def _refusal(host: tuple[str, int]) -> str:
    """Why nobody can be there; empty where somebody may be."""
    try:
        socket.create_connection(host, TRIAL_S).close()
    except ConnectionRefusedError:
        return f"{host[0]}:{host[1]}: Connection refused"
    except (socket.gaierror, UnicodeError):
        return f"cannot resolve host {host[0]}"
    except OSError:
        return ""
    return ""


def cost_between(before: Usage, after: Usage, seconds: float, watches: int) -> FollowingCost:
    """What it cost a second, in the `seconds` between the two."""
    return FollowingCost(
        requests_per_s=round((after.requests - before.requests) / seconds, 1),
        received_bytes_per_s=round((after.bytes_in - before.bytes_in) / seconds),
        sent_bytes_per_s=round((after.bytes_out - before.bytes_out) / seconds),
        in_flight=after.in_flight,
        watches=watches,
        latency_ms=round(after.courtesy.latency_ms, 1),
        is_holding_back=after.courtesy.is_holding_back,
    )


FLAPPING = "connected again; the connection broke a moment ago, so reading everything waits a little"


def unread_of(paths: Sequence[str]) -> str:
    """What was asked for and not told whole; empty where that was no znode."""
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{paths[0]}{more}" if paths else ""


def reason_of(state: ConnectionState) -> str:
    """Why a connection is not there, one line; empty where nothing is known."""
    return "" if isinstance(state, Connected) else state.reason


def no_kafka_here(found: FoundZnodes, state: Connected) -> str:
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

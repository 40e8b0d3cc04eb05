"""Send requests over a link, a window of them at a time, and turn kazoo's exceptions into values and our errors.

No retries: an answer that does not come is the caller's to ask for again.
"""

import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kazoo.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    AuthFailedError,
    ConnectionLoss,
    SessionClosedRequireSaslError,
    SessionExpiredError,
    UnimplementedError,
    ZookeeperError,
)
from kazoo.handlers.threading import KazooTimeoutError  # pyright: ignore[reportMissingTypeStubs]

from model.hosts.zookeeper.link import Answer, Link
from model.hosts.zookeeper.protocol import ZooKeeperAuthFailed, ZooKeeperUnavailable, ZooKeeperUnsupported
from model.hosts.zookeeper.requests import Request


@dataclass(frozen=True, slots=True)
class Refusal:
    """The server answered one request with an error code (ZooKeeper's `KeeperException.Code`)."""

    code: int


def ask(link: Link, request: Request, timeout_s: float) -> object:
    """Send one request; returns its answer or a Refusal.

    Raises ZooKeeperAuthFailed, ZooKeeperUnsupported, or ZooKeeperUnavailable when the connection breaks or
    neither the answer nor a piece of it comes within `timeout_s`.
    """
    return _wait(link, link.submit(request), timeout_s)


def ask_many(link: Link, requests: Iterable[Request], window: Callable[[], int], timeout_s: float) -> Iterator[object]:
    """Send requests with at most `window` of them unanswered just then; yields answers as `ask` does, in order."""
    flying: deque[Answer] = deque()
    for request in requests:
        while len(flying) >= window():
            yield _wait(link, flying.popleft(), timeout_s)
        flying.append(link.submit(request))
    while flying:
        yield _wait(link, flying.popleft(), timeout_s)


def _got(link: Link, answer: Answer, timeout_s: float) -> object:
    """A long answer over a slow link takes its time, and would take no less if it were asked for again."""
    while True:
        pieces = link.pieces
        try:
            return answer.get(timeout=timeout_s)
        except KazooTimeoutError:
            if link.pieces == pieces:
                raise


def _wait(link: Link, answer: Answer, timeout_s: float) -> object:
    try:
        return _got(link, answer, timeout_s)
    except KazooTimeoutError:
        raise ZooKeeperUnavailable(f"{link.address}: no answer within {timeout_s:g} s") from None
    except AuthFailedError:
        raise ZooKeeperAuthFailed(link.reason or f"{link.address}: authentication failed") from None
    except SessionClosedRequireSaslError:
        raise ZooKeeperAuthFailed(f"{link.address}: the server accepts authenticated sessions only") from None
    except UnimplementedError:
        raise ZooKeeperUnsupported(f"{link.address}: this ZooKeeper does not know the request (before 3.6?)") from None
    except (ConnectionLoss, SessionExpiredError):
        raise ZooKeeperUnavailable(link.reason or f"{link.address}: the connection was lost") from None
    except ZookeeperError as error:
        return Refusal(int(getattr(error, "code", 0)))
    except (ValueError, LookupError, RuntimeError, struct.error) as error:
        raise ZooKeeperUnavailable(f"{link.address}: the answer is garbled: {error}") from None

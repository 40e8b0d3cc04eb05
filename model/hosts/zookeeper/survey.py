"""What stands behind a fresh connection: version, mode, abilities. A connection counts once a read was answered.

ZooKeeper announces a session before it has looked at credentials, and old servers hang up on requests they do not
know, so this asks `srvr` first and tries MultiRead only where it can be there. It sets no watches.
"""

import re

from model.hosts.zookeeper.asking import Refusal, ask
from model.hosts.zookeeper.link import Link
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable, ZooKeeperUnsupported
from model.hosts.zookeeper.requests import NO_NODE, GetChildren2, GetData, MultiOp, MultiRead
from model.hosts.zookeeper.values import Children, Missing, Server

FIRST_WITH_MULTI_READ = (3, 6, 0)
_VERSION = re.compile(r"Zookeeper version: (\d+)\.(\d+)\.(\d+)")
_MODE = re.compile(r"Mode: ([\w-]+)")
_FOUR_LETTER_TIMEOUT_S = 3.0


class MultiReadRefused(ZooKeeperUnavailable):
    """The server does not know MultiRead: do not try again on the next connection."""


class MultiReadLost(ZooKeeperUnavailable):
    """The connection to a server of unknown version broke at MultiRead: by that, or by anything else."""


def survey(
    link: Link, chroot: str, timeout_s: float, *, try_multi_read: bool, try_it_on_unknown: bool
) -> tuple[Server, str]:
    """The server and a warning about the chroot, empty if it is there.

    Raises what `ask` raises, and MultiReadRefused or MultiReadLost when MultiRead was tried in vain.
    """
    version, mode = _srvr(link)
    try_multi_read &= try_it_on_unknown if version is None else version >= FIRST_WITH_MULTI_READ
    try:
        is_missing = _is_missing(link, chroot, timeout_s, multi=try_multi_read)
    except ZooKeeperUnsupported:
        raise MultiReadRefused(f"{link.address}: the server refuses MultiRead") from None
    except ZooKeeperUnavailable as error:
        # The refusal itself can be lost: such a server answers and hangs up at once.
        if try_multi_read and version is None and not link.is_refused:
            raise MultiReadLost(str(error)) from None
        raise
    server = Server(
        address=link.address,
        version=version,
        mode="read-only" if link.is_read_only else mode,
        has_multi_read=try_multi_read,
        has_add_watch=try_multi_read and not link.lacks,
        has_watches=not link.lacks,
    )
    return server, _chroot_warning(link, chroot, timeout_s) if is_missing else ""


def _srvr(link: Link) -> tuple[tuple[int, int, int] | None, str]:
    try:
        text = link.four_letters(b"srvr", _FOUR_LETTER_TIMEOUT_S)
    except (OSError, ValueError):
        return None, ""
    version, mode = _VERSION.search(text), _MODE.search(text)
    numbers = (int(version[1]), int(version[2]), int(version[3])) if version else None
    return numbers, mode[1] if mode else ""


def _is_missing(link: Link, chroot: str, timeout_s: float, *, multi: bool) -> bool:
    request = MultiRead(chroot, MultiOp.GET_DATA, ("/",)) if multi else GetData(chroot, "/")
    answer = ask(link, request, timeout_s)
    return answer == [Missing("/")] or answer == Refusal(NO_NODE)


def _chroot_warning(link: Link, chroot: str, timeout_s: float) -> str:
    root = ask(link, GetChildren2("", "/"), timeout_s)
    names = ", ".join(sorted(root.names)[:8]) if isinstance(root, Children) else ""
    return f"chroot {chroot} does not exist on {link.address}" + (f"; its root has: {names}" if names else "")

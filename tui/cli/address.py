"""Where a browser on this machine finds the dashboard: `[HOST:]PORT`, loopback only. Values; opens nothing."""

import re
from collections.abc import Sequence
from ipaddress import ip_address
from typing import NamedTuple

OPTION = "--serve"
ARGUMENTS = "kdrill.arguments"
"""Under this name click's context keeps the command line `with_address`."""
DEFAULT_PORT = 8000
HIGHEST_PORT = 65_535
_ADDRESS = re.compile(r"(?:(?P<host>\[[^\]/]*\]|[\w.-]*):)?(?P<port>\d+)", re.ASCII)


class NotServed(ValueError):  # noqa: N818 - reads as a fact
    """Nothing can be served there; the message is one line."""


class ServeAddress(NamedTuple):
    """Where to listen; `port` 0 is any free one."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

    def names(self, port: int) -> frozenset[str]:
        """What a browser may call the server that listens on this port: a name that leads nowhere else."""
        hosts = ("localhost", f"[{self.host}]" if ":" in self.host else self.host)
        return frozenset(f"{host}:{port}" if port != 80 else host for host in hosts)

    def url(self, port: int) -> str:
        """The page of the server that listens on this port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{port}/"


def parse_address(text: str) -> ServeAddress:
    """`8000`, `127.0.0.1:8000`, `localhost:8000`, `[::1]:8000`. Raises NotServed."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise NotServed(f"{text!r} is not [HOST:]PORT; for example: {OPTION} 127.0.0.1:{DEFAULT_PORT}")
    if int(found["port"]) > HIGHEST_PORT:
        raise NotServed(f"{text!r}: the highest port is {HIGHEST_PORT}; for example: {OPTION} {DEFAULT_PORT}")
    port = int(found["port"])
    host = (found["host"] or "localhost").strip("[]")
    if host == "localhost":
        return ServeAddress(port=port)
    if not _is_loopback(host):
        raise NotServed(
            f"{text!r}: there is no password, so only this machine may see it: {OPTION} 127.0.0.1:{port}"
            f" (from elsewhere: ssh -L {port}:127.0.0.1:{port})"
        )
    return ServeAddress(str(ip_address(host)), port)


def with_address(arguments: Sequence[str]) -> list[str]:
    """The same command line with the option's value, given or not, as a part of its word: `--serve=8000`.

    So a SOURCE may follow the bare option.
    """
    joined: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*joined, word, *rest]
        if word == OPTION:
            word += f"={rest.pop(0) if rest and _ADDRESS.fullmatch(rest[0]) else DEFAULT_PORT}"
        joined.append(word)
    return joined


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

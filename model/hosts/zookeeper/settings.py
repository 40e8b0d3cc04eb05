"""Where and as whom to connect. Plain values, checked when made; nothing here connects."""

import ssl
from typing import cast

import msgspec
from kazoo.hosts import collect_hosts  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from model.hosts.zookeeper.throttle import ReadLimits


class Credential(msgspec.Struct, frozen=True):
    """One `addauth` of ZooKeeper, such as scheme `digest` with `user:password`; never shown."""

    scheme: str
    secret: str

    def __repr__(self) -> str:
        return f"Credential(scheme={self.scheme!r}, secret='***')"


class Sasl(msgspec.Struct, frozen=True):
    """SASL login (needs the package pure-sasl); `mechanism` is DIGEST-MD5 or GSSAPI."""

    mechanism: str
    username: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"Sasl(mechanism={self.mechanism!r}, username={self.username!r}, password='***')"


class Settings(msgspec.Struct, frozen=True):
    """One ensemble. Raises ValueError, as one line, for what can't be an address or a chroot."""

    address: str
    """`host:port[,host:port…]`; the port defaults to 2181."""
    chroot: str = ""
    """Empty or `/kafka`, put in front of every path."""
    session_timeout_ms: int = 12_000
    """The server may change it. Short enough that a frozen client does not pile up events in the server's memory."""
    request_timeout_ms: int = 15_000
    """The longest a single answer may take, or a piece of a long one."""
    credentials: tuple[Credential, ...] = ()
    sasl: Sasl | None = None
    tls: ssl.SSLContext | None = None
    """Made by `client_security`, which checks the server's name (kazoo's default is not to)."""
    limits: ReadLimits = ReadLimits()
    accept_read_only_server: bool = False
    """Also talk to a server that lost its quorum; it needs `readonlymode.enabled` there."""

    def __post_init__(self) -> None:
        hosts_of(self.address)
        if self.chroot and (not self.chroot.startswith("/") or self.chroot.endswith("/") or "//" in self.chroot):
            raise ValueError(f"chroot {self.chroot!r} must start with / and not end with it, for example /kafka")


def hosts_of(address: str) -> list[tuple[str, int]]:
    """The hosts and ports of `host:port[,host:port…]`."""
    try:
        hosts, chroot = cast("tuple[list[tuple[str, int]], str | None]", collect_hosts(address))
    except ValueError as error:
        raise ValueError(f"ZooKeeper address {address!r}: {error}; write host:port[,host:port…]") from None
    if chroot:
        raise ValueError(f"ZooKeeper address {address!r}: give the chroot {chroot} on its own")
    return hosts

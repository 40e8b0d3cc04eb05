"""`zk://host:port[,host:port…][/chroot]`, parsed. Resolves no names."""

import re

import msgspec

from model.sources.source import SourceError

SCHEME = "zk://"
DEFAULT_PORT = 2181

_HOST = re.compile(r"[\w.-]+|\[[0-9A-Fa-f:.]+(%[\w.-]+)?\]")


class ZooKeeperAddress(msgspec.Struct, frozen=True):
    """Where an ensemble listens and below which znode the cluster lives (`chroot`, "" for the root)."""

    hosts: str
    """`host:port[,host:port…]`, every port filled in."""
    chroot: str = ""

    def __str__(self) -> str:
        return f"{SCHEME}{self.hosts}{self.chroot}"


def parse_address(source: str) -> ZooKeeperAddress:
    """Parses a SOURCE of the form `zk://…`; raises SourceError with one line that says what is wrong with it."""
    check_no_login(source)
    hosts, slash, path = source.removeprefix(SCHEME).partition("/")
    chroot = (slash + path).rstrip("/")
    if not source.startswith(SCHEME) or not hosts:
        raise SourceError(f"{source!r} names no host: write zk://host:port[,host:port…][/chroot]")
    if "//" in chroot:
        raise SourceError(f"{source!r}: the chroot {chroot!r} has an empty part")
    if {".", ".."} & set(chroot.split("/")) or not chroot.isprintable():
        raise SourceError(f"{source!r}: {chroot!r} cannot be a znode's path")
    return ZooKeeperAddress(
        ",".join(host_and_port(source, host.strip(), DEFAULT_PORT) for host in hosts.split(",")), chroot
    )


def check_no_login(source: str) -> None:
    """Raises SourceError for a name or password in the address, which it does not repeat."""
    scheme, colons, rest = source.partition("://")
    if "@" in rest.partition("/")[0]:
        shown = f"{scheme}{colons}…@{rest.rpartition('@')[2]}"
        raise SourceError(
            f"{shown!r}: no name or password belongs in an address, where others can read it; "
            "log in by --command-config or the configuration"
        )


def host_and_port(source: str, text: str, default_port: int) -> str:
    """One server of a SOURCE, its port filled in; raises SourceError with one line."""
    host, colon, port = text.rpartition(":")
    if text.endswith("]") or not colon:  # an IPv6 address without a port, or a bare name
        host, port = text, str(default_port)
    if not _is_host(host):
        raise SourceError(f"{source!r}: {text!r} is not host:port (write an IPv6 address as [::1]:{default_port})")
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise SourceError(f"{source!r}: {port!r} in {text!r} is not a port number from 1 to 65535")
    return f"{host}:{port}"


def _is_host(text: str) -> bool:
    try:
        text.encode("idna")  # as whoever resolves it will, and fail
    except UnicodeError:
        return False
    return _HOST.fullmatch(text) is not None

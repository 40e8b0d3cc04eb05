"""A SOURCE as the operator writes it → what it names. Opens nothing, resolves no names, loads nothing that could.

`zk://host:port[,host:port…][/chroot]`, `kafka://host:port[,host:port…]`, `controllers://host:port[,host:port…]`, a
file, a recording's `DIR` or `DIR@TIME`; of KRaft a node's metadata log as `FOLDER`, `FOLDER@OFFSET` or `FOLDER@TIME`,
or a `.checkpoint` of it.
"""

import os
import re
from pathlib import Path

import msgspec

from model.recordings.folder import parse_time, said
from model.sources.source import SourceError

ZOOKEEPER_SCHEME = "zk://"
ZOOKEEPER_PORT = 2181

_HOST = re.compile(r"[\w.-]+|\[[0-9A-Fa-f:.]+(%[\w.-]+)?\]")


class ZooKeeperAddress(msgspec.Struct, frozen=True):
    """Where an ensemble listens and below which znode the cluster lives (`chroot`, "" for the root)."""

    hosts: str
    """`host:port[,host:port…]`, every port filled in."""
    chroot: str = ""

    def __str__(self) -> str:
        return f"{ZOOKEEPER_SCHEME}{self.hosts}{self.chroot}"


def parse_zookeeper_address(source: str) -> ZooKeeperAddress:
    """Parses a SOURCE of the form `zk://…`; raises SourceError with one line that says what is wrong with it."""
    check_no_login(source)
    hosts, slash, path = source.removeprefix(ZOOKEEPER_SCHEME).partition("/")
    chroot = (slash + path).rstrip("/")
    if not source.startswith(ZOOKEEPER_SCHEME) or not hosts:
        raise SourceError(f"{source!r} names no host: write zk://host:port[,host:port…][/chroot]")
    if "//" in chroot:
        raise SourceError(f"{source!r}: the chroot {chroot!r} has an empty part")
    if {".", ".."} & set(chroot.split("/")) or not chroot.isprintable():
        raise SourceError(f"{source!r}: {chroot!r} cannot be a znode's path")
    return ZooKeeperAddress(
        ",".join(host_and_port(source, host.strip(), ZOOKEEPER_PORT) for host in hosts.split(",")), chroot
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


KAFKA_SCHEME = "kafka://"
KAFKA_PORT = 9092


class KafkaAddress(msgspec.Struct, frozen=True):
    """Brokers that are asked first; they know the others."""

    brokers: tuple[tuple[str, int], ...]

    @property
    def bootstrap(self) -> str:
        """As Kafka's `bootstrap.servers`."""
        return ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.brokers)

    def __str__(self) -> str:
        return f"{KAFKA_SCHEME}{self.bootstrap}"


def parse_kafka_address(source: str) -> KafkaAddress:
    """A SOURCE of the form `kafka://…`, or a list of brokers without the scheme; raises SourceError with one line."""
    return KafkaAddress(_servers(source, KAFKA_SCHEME, "broker", KAFKA_PORT))


def _servers(source: str, scheme: str, role: str, default_port: int) -> tuple[tuple[str, int], ...]:
    check_no_login(source)
    listed = source.removeprefix(scheme).rstrip("/")
    if not listed or "/" in listed:
        wrong = f"names no {role}" if not listed else f"a path in {listed!r} means nothing here"
        raise SourceError(f"{source!r}: {wrong}: write {scheme}host:port[,host:port…]")
    servers = (host_and_port(source, text.strip(), default_port).rpartition(":") for text in listed.split(","))
    return tuple((host.strip("[]"), int(port)) for host, _, port in servers)


CONTROLLERS_SCHEME = "controllers://"
CONTROLLER_PORT = 9093


class ControllersAddress(msgspec.Struct, frozen=True):
    """Controllers of a KRaft quorum; one of them is enough where they tell of the others (3.9)."""

    controllers: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return f"{CONTROLLERS_SCHEME}{KafkaAddress(self.controllers).bootstrap}"


def parse_controllers_address(source: str) -> ControllersAddress:
    """A SOURCE of the form `controllers://…`; raises SourceError with one line."""
    return ControllersAddress(_servers(source, CONTROLLERS_SCHEME, "controller", CONTROLLER_PORT))


class RecordingName(msgspec.Struct, frozen=True):
    """A recording's folder, or one cluster's folder in it; `at_ms` None: its end."""

    path: Path
    at_ms: int | None = None

    def __str__(self) -> str:
        if self.at_ms is None:
            return str(self.path)
        return f"{self.path}@{said(self.at_ms)}"


def parse_recording(name: str) -> RecordingName | None:
    """A folder, or a folder and a time; None where the name is neither. Raises SourceError for what is no time."""
    if os.path.isdir(name):
        return RecordingName(Path(name))
    folder, at, time = name.rpartition("@")
    if not at or not os.path.isdir(folder) or os.path.lexists(name):
        return None
    try:
        return RecordingName(Path(folder), parse_time(time))
    except (ValueError, OverflowError):
        raise SourceError(f"{name!r}: {time!r} is no time: write {folder}@2026-11-20T12:03:58Z") from None


class MetadataLogName(msgspec.Struct, frozen=True):
    """A folder with a node's metadata log (KRaft), or a `.checkpoint` of it; without offset and time (ms): its end."""

    path: Path
    offset: int | None = None
    at_ms: int | None = None

    def __str__(self) -> str:
        if self.offset is not None:
            return f"{self.path}@{self.offset}"
        return str(self.path) if self.at_ms is None else f"{self.path}@{said(self.at_ms)}"


METADATA_LOG = "__cluster_metadata-0"
_METADATA_FILE = re.compile(r"\d{20}\.log|\d{20}-\d{10}\.checkpoint|quorum-state")


def parse_metadata_log(name: str) -> MetadataLogName | None:
    """A log's folder, or the log directory that it is in, perhaps with an offset or a time; or a snapshot.

    None where the name is none of these. Raises SourceError for what is neither offset nor time.
    """
    if os.path.isfile(name):
        return MetadataLogName(Path(name)) if name.endswith(".checkpoint") else None
    folder, at, when = name, "", ""
    if not os.path.lexists(name):
        folder, at, when = name.rpartition("@")
    place = _metadata_folder(folder)
    if place is None or not at:
        return place and MetadataLogName(place)
    if when.isascii() and when.isdigit():
        return MetadataLogName(place, offset=int(when))
    try:
        return MetadataLogName(place, at_ms=parse_time(when))
    except (ValueError, OverflowError):
        way_out = f"write {folder}@2026-11-20T12:03:58Z or {folder}@4711"
        raise SourceError(f"{name!r}: {when!r} is neither an offset nor a time: {way_out}") from None


def _metadata_folder(name: str) -> Path | None:
    try:
        names = os.listdir(name) if name else []
    except OSError:
        return None
    if any(_METADATA_FILE.fullmatch(each) for each in names):
        return Path(name)
    return Path(name, METADATA_LOG) if METADATA_LOG in names else None


_KINDS = "write zk://host:port[/chroot], kafka://host:port, controllers://host:port or a file's path"
STANDARD_INPUT = Path("/dev/stdin")


class NoSuchFileError(SourceError):
    """The name of nothing that is there; it may be meant for a cluster of a configuration, which is not known here."""

    def __init__(self, name: str, hint: str) -> None:
        super().__init__(f"{name!r}: no such file{hint}")
        self.hint = hint
        """How it might be written, for what looks like an address."""


Named = ZooKeeperAddress | KafkaAddress | ControllersAddress | RecordingName | MetadataLogName | Path


def parse_source(name: str) -> Named:
    """An address, a folder, a folder and a time or an offset, a file that exists, or `-` for standard input.

    Raises SourceError with one line for all else.
    """
    if name == "-":
        return STANDARD_INPUT
    if name.startswith(ZOOKEEPER_SCHEME):
        return parse_zookeeper_address(name)
    if name.startswith(KAFKA_SCHEME):
        return parse_kafka_address(name)
    if name.startswith(CONTROLLERS_SCHEME):
        return parse_controllers_address(name)
    if "://" in name:
        check_no_login(name)
        scheme = name.partition("://")[0]
        raise SourceError(f"{name!r}: {scheme}:// is no kind of source: {_KINDS}")
    in_folder = parse_metadata_log(name) or parse_recording(name)
    if in_folder is not None:
        return in_folder
    if not os.path.lexists(name):  # Path.exists raises for a name that is too long
        hint = f"; for a ZooKeeper write zk://{name}, for brokers kafka://{name}" if ":" in name else ""
        raise NoSuchFileError(name, hint)
    return Path(name)

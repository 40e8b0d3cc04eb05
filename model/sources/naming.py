"""A SOURCE as the operator writes it → what it names. Opens nothing, and loads nothing that could."""

import os
from pathlib import Path

from model.sources.kafka.address import SCHEME as KAFKA
from model.sources.kafka.address import KafkaAddress
from model.sources.kafka.address import parse_address as parse_brokers
from model.sources.recording.name import RecordingName, parse_recording
from model.sources.source import SourceError
from model.sources.zookeeper.address import SCHEME, ZooKeeperAddress, check_no_login, parse_address

_KINDS = "write zk://host:port[/chroot], kafka://host:port or a file's path"
STANDARD_INPUT = Path("/dev/stdin")


class NoSuchFileError(SourceError):
    """The name of nothing that is there; it may be meant for a cluster of a configuration, which is not known here."""

    def __init__(self, name: str, hint: str) -> None:
        super().__init__(f"{name!r}: no such file{hint}")
        self.hint = hint
        """How it might be written, for what looks like an address."""


def parse_source(name: str) -> ZooKeeperAddress | KafkaAddress | RecordingName | Path:
    """`zk://…`, `kafka://…`, a folder, a folder and a time, a file that exists, or `-` for standard input.

    Raises SourceError with one line for all else.
    """
    if name == "-":
        return STANDARD_INPUT
    if name.startswith(SCHEME):
        return parse_address(name)
    if name.startswith(KAFKA):
        return parse_brokers(name)
    if "://" in name:
        check_no_login(name)
        scheme = name.partition("://")[0]
        raise SourceError(f"{name!r}: {scheme}:// is no kind of source: {_KINDS}")
    recording = parse_recording(name)
    if recording is not None:
        return recording
    if not os.path.lexists(name):  # Path.exists raises for a name that is too long
        hint = f"; for a ZooKeeper write zk://{name}, for brokers kafka://{name}" if ":" in name else ""
        raise NoSuchFileError(name, hint)
    return Path(name)

"""The settings of an embedded ZooKeeper and how they are written in zoo.cfg. It starts nothing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class ServerOptions:
    """What may differ between servers. The defaults suit a sandbox of one machine."""

    tick_time_ms: int = 500
    """Sessions expire on whole ticks, so a shorter tick means a more exact expiry."""
    min_session_timeout_ms: int = 1_000
    max_session_timeout_ms: int = 60_000
    four_letter_words: str = "*"
    """The 4lw.commands.whitelist; without `srvr` in it the server is never seen to be ready."""
    jute_maxbuffer_bytes: int | None = None
    """The largest request the server takes; None leaves ZooKeeper's 1 MB."""
    max_client_connections: int = 0
    """Per client address; 0 means any number."""
    heap_mb: int = 512
    """A limit, not a reservation: 100,000 partitions need 128 MB, 1,000,000 need 4 GB."""
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further lines of zoo.cfg, which win over the ones above."""

    def configuration(self, data: Path, port: int) -> str:
        """The text of zoo.cfg. Listens on loopback only: a sandbox has no password."""
        settings = {
            "dataDir": str(data),
            "clientPort": str(port),
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
            "tickTime": str(self.tick_time_ms),
            "minSessionTimeout": str(self.min_session_timeout_ms),
            "maxSessionTimeout": str(self.max_session_timeout_ms),
            "4lw.commands.whitelist": self.four_letter_words,
            "maxClientCnxns": str(self.max_client_connections),
            **self.extra,
        }
        return "".join(f"{name}={_escape(value)}\n" for name, value in settings.items())

    def java_flags(self) -> list[str]:
        """Flags for the Java that runs the server: the fastest start that was measured."""
        flags = [
            "-XX:+IgnoreUnrecognizedVMOptions",  # not every Java is HotSpot
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",  # its file in the temporary folder would outlive a SIGKILL
            "-XX:+ExitOnOutOfMemoryError",
            f"-Xmx{self.heap_mb}m",
            # The tree must survive the death of a process, not of the machine: skip fsync.
            "-Dzookeeper.forceSync=no",
        ]
        if self.jute_maxbuffer_bytes is not None:
            flags.append(f"-Djute.maxbuffer={self.jute_maxbuffer_bytes}")
        return flags


def _escape(value: str) -> str:
    """JSON's escapes are those of java.util.Properties: \\\\ and \\uXXXX."""
    return json.dumps(value)[1:-1]

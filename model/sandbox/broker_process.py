"""One broker's process: what it is told in its server.properties, and what it says as it starts."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from model.broker.settings.keys import KDRILL_FAULT_FOLDER
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import LOOPBACK, SandboxError
from model.sandbox.server_process import ServerProcess


def broker_properties(
    options: SandboxOptions, broker: int, *, folder: str, metadata: Mapping[str, str], advertised: Mapping[str, str]
) -> Mapping[str, str]:
    """The keys and values; a broker listens where the system lets it, and tells others the proxies' addresses.

    `advertised` is the address of each listener, the brokers' own last; `metadata` says who the broker is, and how it
    reaches who has the metadata.
    """
    replicas = str(min(3, options.brokers))
    rack = options.rack_of(broker)
    listeners = tuple(advertised)
    return {
        **({"broker.rack": rack} if rack else {}),
        "listeners": ",".join(f"{name}://{LOOPBACK}:0" for name in listeners),
        "advertised.listeners": ",".join(f"{name}://{advertised[name]}" for name in listeners),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in listeners),
        "inter.broker.listener.name": listeners[-1],
        "log.dirs": f"{folder}/logs",
        **metadata,
        "default.replication.factor": replicas,
        "num.partitions": "6",
        "min.insync.replicas": "2" if options.brokers > 2 else "1",
        "replica.lag.time.max.ms": "10000",
        "offsets.topic.replication.factor": replicas,
        "offsets.topic.num.partitions": "10",
        "group.initial.rebalance.delay.ms": "500",
        "controlled.shutdown.retry.backoff.ms": "500",
        KDRILL_FAULT_FOLDER.name: f"{folder}/faults",
        **options.settings,
    }


def properties_text(properties: Mapping[str, str]) -> str:
    """As java.util.Properties reads it; backslashes begin an escape there."""
    return "".join(f"{name}={value}\n".replace("\\", "\\\\") for name, value in properties.items())


LIVE_BROKER = (sys.executable, "-P", "-m", "model.hosts.live_broker")
"""-P: whatever lies in the current folder is not ours."""


Listeners = Mapping[str, str]
"""Name → where a broker really listens, `127.0.0.1:40011`."""


class BrokerLine(msgspec.Struct, frozen=True):
    """A line that a broker prints: first where it listens, then, once it is registered and serves, who it is."""

    listening: Listeners | None = None
    broker_id: int | None = None


class BrokerProcess(ServerProcess):
    """With its server.properties, and the folder of its orders to fail."""

    def __init__(self, broker: int, folder: Path, command: Sequence[str] = LIVE_BROKER) -> None:
        super().__init__(f"broker {broker}", folder, folder / "broker.log")
        self.broker = broker
        self._command = command

    @property
    def properties(self) -> Path:
        return self.folder / "server.properties"

    @property
    def faults(self) -> Path:
        """Where orders to fail are left for it."""
        return self.folder / "faults"

    def write_properties(self, text: str) -> None:
        """What the next start obeys. Raises SandboxError."""
        try:
            self.faults.mkdir(parents=True, exist_ok=True)
            self.properties.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SandboxError(f"can't write {error.filename}: {error.strerror}") from error

    async def start(self, on_listening: Callable[[Listeners], None]) -> None:
        """Start it and wait until it serves. Raises SandboxError.

        `on_listening` is told where it listens as soon as it does: it can't serve before the controller reaches it.
        """

        def serves(line: str) -> bool:
            said = msgspec.json.decode(line, type=BrokerLine) if line.startswith("{") else BrokerLine()
            if said.listening is not None:
                on_listening(said.listening)
            return said.broker_id is not None

        await self._run([*self._command, str(self.properties)], serves)

"""The controllers of a sandbox in KRaft mode: a quorum of kdrill's own voters, each a process.

The metadata log names the voters (`kraft.version` 1), and one that votes no more still observes: Kafka's own tool takes
voters out and adds them again. By which ports they are reached is told to each process anew, since these are other ones
at each start. Who is active they say themselves.
"""

import asyncio
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from model.hosts.kafka_client import address_of
from model.hosts.kafka_descriptions import UnavailableError, describe_quorum, described_quorum
from model.hosts.wire.connection import Connection
from model.hosts.wire.names import WireError, topic_id_text
from model.log.checkpoints import read_meta_properties, write_meta_properties
from model.sandbox.broker_process import BrokerProcess
from model.sandbox.control_plane import UnaskedEnd
from model.sandbox.messages import ProcessView
from model.sandbox.options import KRAFT_SESSION_KEY, SandboxOptions
from model.sandbox.processes import free_port
from model.sandbox.sandbox_folder import SandboxFolder
from model.sandbox.server_process import ServerProcess, all_or_first_error
from model.sandbox.switchboard import Switchboard

LIVE_CONTROLLER: Final = (sys.executable, "-P", "-m", "model.hosts.quorum")
"""-P: whatever lies in the current folder is not ours."""
LISTENS: Final = "listening on "
ANSWER_S: Final = 1.0
"""How long a controller may take to say whether it is the active one: one that is paused never does."""
HEARTBEAT_MS: Final = 1_000
LAST_LINES: Final = 8
PROPERTIES: Final = "controller.properties"


class ControllerProcess(ServerProcess):
    """One controller, which is a voter."""

    def __init__(self, controller: int, folder: Path) -> None:
        super().__init__(f"controller {controller}", folder, folder / "controller.log")
        self.controller = controller
        self.address: tuple[str, int] | None = None
        """Where it really listens, or did last."""

    async def start(self, options: Sequence[str], on_listening: Callable[[str, int], None]) -> None:
        """Start it and wait until it takes part. Raises SandboxError."""

        def serves(line: str) -> bool:
            if line.startswith(LISTENS):
                self.address = address_of(line.removeprefix(LISTENS))
                on_listening(*self.address)
            return line.startswith(LISTENS)

        await self._run([*LIVE_CONTROLLER, str(self.folder), *options], serves)


class ControllerPlane:
    """A `ControlPlane`. Brokers, and controllers among themselves, reach a controller by one proxy."""

    name = "the quorum of controllers"

    def __init__(self, options: SandboxOptions, folder: SandboxFolder, links: Switchboard) -> None:
        self._options = options
        self._links = links
        self.processes = {each: ControllerProcess(each, folder.controller(each)) for each in options.controller_ids}
        self._cluster_id = ""

    @property
    def addresses(self) -> str:
        return ",".join(self._links.controller(each).address for each in self.processes)

    @property
    def is_lost(self) -> bool:
        return 2 * sum(each.status == "crashed" for each in self.processes.values()) >= len(self.processes)

    def check(self) -> None:
        first = self._options.controller_port
        for place in range(len(self.processes) if first else 0):
            free_port(place + (first or 0))

    async def start(self) -> None:
        if not any(process.folder.exists() for process in self.processes.values()):
            self._format()
        await all_or_first_error(map(self.start_one, self.processes))

    async def start_one(self, controller: int) -> None:
        """Start one that does not run. Raises SandboxError and OSError."""
        process, proxy = self.processes[controller], self._links.controller(controller)
        voters = ",".join(f"{each}@{self._links.controller(each).address}" for each in self.processes)
        (process.folder / PROPERTIES).write_text(self._properties(process), encoding="utf-8")
        options = ("--quorum", self.addresses, "--reached", voters, "--advertised", proxy.address)
        await process.start((*options, "--session-timeout-ms", str(self._options.session_ms)), proxy.lead_to)

    def prepare(self, broker: BrokerProcess) -> Mapping[str, str]:
        logs = broker.folder / "logs"
        if not logs.exists():
            logs.mkdir(parents=True)
            about = {"version": "1", "cluster.id": self.cluster_id, "node.id": str(broker.broker)}
            write_meta_properties(logs, about)
        return {
            "process.roles": "broker",
            "node.id": str(broker.broker),
            "controller.quorum.bootstrap.servers": self.addresses,
            "broker.heartbeat.interval.ms": str(HEARTBEAT_MS),
            # Brokers do nothing with it; forecasts read it of them, since controllers describe no settings.
            KRAFT_SESSION_KEY: str(self._options.session_ms),
        }

    @property
    def cluster_id(self) -> str:
        """As the folders have it that are there; else a new one."""
        if not self._cluster_id:
            told = (read_meta_properties(each.folder).get("cluster.id") for each in self.processes.values())
            self._cluster_id = next(filter(None, told), None) or topic_id_text(uuid.uuid4()) or ""
        return self._cluster_id

    async def active(self) -> int | None:
        """The active controller: of those who say that they are, the one of the newest epoch. None: nobody does."""
        asked = [each for each in self.processes.values() if each.status == "running" and each.address is not None]
        said = await asyncio.gather(*(_claim(*each.address) for each in asked if each.address is not None))
        return max(filter(None, said), default=(0, None))[1]

    def views(self) -> Iterator[ProcessView]:
        for controller, process in self.processes.items():
            yield ProcessView(
                name=process.name,
                kind="controller",
                status=process.status,
                pid=process.pid,
                address=self._links.controller(controller).address,
                since_ms=process.since_ms,
                log=str(process.log.path),
            )

    def notice_ends(self) -> Iterator[UnaskedEnd]:
        for controller, process in self.processes.items():
            if (code := process.notice_end()) is not None:
                self._links.is_gone(controller)
                text = f"{process.name} ended unasked, exit code {code}; see {process.log.path}"
                yield UnaskedEnd(process.name, text, process.log.last_lines(LAST_LINES))

    async def close(self, patience_s: float) -> None:
        if patience_s:
            await asyncio.gather(*(each.terminate(patience_s) for each in self.processes.values()))
        await asyncio.gather(*(each.close() for each in self.processes.values()))

    def _format(self) -> None:
        from model.hosts.quorum.voter_disk import format_folder  # noqa: PLC0415 - takes all of Raft
        from model.raft.raft_log import ReplicaKey, Voter, VoterSet  # noqa: PLC0415

        keys = {each: ReplicaKey(each, topic_id_text(uuid.uuid4())) for each in self.processes}
        voters = VoterSet.of(Voter(key, address_of(self._links.controller(each).address)) for each, key in keys.items())
        for each, process in self.processes.items():
            format_folder(process.folder, self.cluster_id, keys[each], voters, ())

    def _properties(self, process: ControllerProcess) -> str:
        """What Kafka's own tool has to read of a controller that it is to add."""
        return (
            f"process.roles=controller\nnode.id={process.controller}\ncontroller.listener.names=CONTROLLER\n"
            f"listeners=CONTROLLER://{self._links.controller(process.controller).address}\n"
            f"controller.quorum.bootstrap.servers={self.addresses}\nlog.dirs={process.folder}\n"
        )


async def _claim(host: str, port: int) -> tuple[int, int] | None:
    """Epoch and id, of a controller that says that it leads."""
    try:
        async with asyncio.timeout(ANSWER_S):
            connection = await Connection.open(host, port, "kdrill-sandbox", ANSWER_S)
            try:
                quorum = described_quorum(await connection.ask(describe_quorum(connection), ANSWER_S))
            finally:
                await connection.close()
    except (WireError, UnavailableError, TimeoutError):
        return None
    return quorum.leader_epoch, quorum.leader

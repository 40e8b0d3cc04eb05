"""A consumer of a ZooKeeper group: a process of its own, killed when it is stopped. Its lines are read here."""

import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from model.sandbox.cluster.starting import started
from model.sandbox.guarded_process import GuardedProcess
from model.sandbox.links.switchboard import CLIENT
from model.sandbox.load.consumer_status import ConsumerStatus

ZOOKEEPER_CONSUMER = (sys.executable, "-P", "-m", "model.hosts.zookeeper_consumer")
"""-P: whatever lies in the current folder is not ours."""
COMMIT_EVERY_MS = 5_000


class _Line(msgspec.Struct, frozen=True):
    happening: str
    total: int = 0
    partitions: tuple[tuple[str | int, ...], ...] = ()


class ZooKeeperMember:
    """Not started by the constructor."""

    def __init__(self, zookeeper: str, group: str, member: str, topics: Sequence[str], folder: Path) -> None:
        """`zookeeper` is a connect string with its chroot, `folder` where its log goes."""
        self.group = group
        self.member = member
        self.status: ConsumerStatus = "stopped"
        self.partitions: tuple[str, ...] = ()
        self.log = folder / f"consumer-{group}-{member}.log"
        self._command = (
            *ZOOKEEPER_CONSUMER,
            *("--zookeeper", zookeeper, "--group", group, "--listener", CLIENT),
            *("--auto-commit-interval-ms", str(COMMIT_EVERY_MS)),
            *(word for topic in topics for word in ("--topic", topic)),
        )
        self._process: GuardedProcess | None = None
        self._read = 0
        self._before = 0
        self._total = 0

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return self._process.pid if self._process and self._process.exit_code() is None else None

    @property
    def consumed(self) -> int:
        """Records, ever."""
        return self._before + self._total

    async def start(self) -> None:
        """Start it; it joins when it can. Raises SandboxError."""
        self.status, self._before, self._total = "joining", self.consumed, 0
        start = partial(GuardedProcess, self._command, folder=self.log.parent, log=self.log)
        self._process = await started(start, GuardedProcess.close)

    async def cut_off(self) -> None:
        """SIGKILL: its znodes stay until its session times out."""
        self.status, self.partitions = "stopped", ()
        if self._process is not None:
            await asyncio.to_thread(self._process.close)

    def look(self) -> None:
        """Read what it said since the last time."""
        try:
            with self.log.open("rb") as file:
                file.seek(self._read)
                text = file.read()
        except OSError:
            return
        text = text[: text.rfind(b"\n") + 1]
        self._read += len(text)
        for line in text.splitlines():
            if line.startswith(b"{") and self.status != "stopped":
                self._hear(line)

    def _hear(self, text: bytes) -> None:
        try:
            line = msgspec.json.decode(text, type=_Line)
        except msgspec.MsgspecError:
            return
        match line.happening:
            case "consumed":
                self._total = line.total
            case "claimed":
                self.status = "consuming"
                self.partitions = tuple(f"{each[0]}-{each[1]}" for each in line.partitions)
            case "rebalance-began" | "released" | "session-expired":
                self.status, self.partitions = "joining", ()
            case "gave-up" | "left":
                self.status, self.partitions = "stopped", ()
            case _:
                pass

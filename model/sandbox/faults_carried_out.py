"""Faults and repairs of a sandbox's processes and of its brokers' files, and which broker is meant.

A broker is named by its id or by the role it has at that moment. What came of a deed is a value.
"""

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import msgspec

from model.broker.settings.keys import CONTROLLER_STOP_FILE, FAILOVER_STEPS, LOG_DIR_LIMIT_FILE
from model.cluster.ids import TopicPartition
from model.hosts.kafka_client import NOBODY, Metadata, PartitionPlace
from model.hosts.wire.names import WireError
from model.log.records.batch import RecordBatch, SegmentFile
from model.log.records.scan import scan
from model.sandbox import faults
from model.sandbox.controllers import ControllerPlane
from model.sandbox.faults import BrokerChoice, Repair
from model.sandbox.link_proxy import Valve
from model.sandbox.options import node_in_words
from model.sandbox.processes import SandboxError
from model.sandbox.sandbox_cluster import SandboxCluster
from model.sandbox.server_process import ServerProcess


class DeedOutcome(msgspec.Struct, frozen=True):
    """A sentence for the operator, and the way back."""

    text: str
    subject: str
    repair: Repair | None = None


class Traffic(Protocol):
    """The load, as far as it is ordered about. Each raises SandboxError."""

    async def stop_consumer(self, group: str, member: str) -> str: ...

    async def start_consumer(self, group: str, member: str) -> str: ...

    async def set_rate(self, rate: float) -> str: ...

    def valve(self, place: str) -> Valve: ...

    def link_changed(self, place: str) -> None: ...


class Site:
    """The cluster, its load if there is one, and the bytes that were flipped."""

    def __init__(self, cluster: SandboxCluster, load: Callable[[], Traffic | None]) -> None:
        self.cluster = cluster
        self._load = load
        self.flipped: dict[tuple[int, str], FlippedBytes] = {}
        self.armed: dict[int, str] = {}
        """Brokers that are to die in their failover, and at which step."""

    @property
    def load(self) -> Traffic:
        """Raises SandboxError where there is none."""
        load = self._load()
        if load is None:
            raise SandboxError("there is no load: start the sandbox with --load")
        return load


class FlippedBytes(msgspec.Struct, frozen=True):
    """What a segment file had and has now, from one position on."""

    path: str
    position: int
    before: bytes
    after: bytes


CarryOut = Callable[[Site, Any], Awaitable[DeedOutcome]]


CONTROLLER = "controller"
ANSWER_TIMEOUT_S, POLL_S = 5.0, 0.1
_PART = re.compile(r"(leader|follower) of (\S+)-(\d+)")


async def chosen_broker(cluster: SandboxCluster, choice: BrokerChoice) -> int:
    """The broker's id. Raises SandboxError: there is no such broker, or nobody plays that part."""
    node = await chosen_node(cluster, choice)
    if node in cluster.controllers:
        raise SandboxError(f"this is for brokers, not for controller {node}")
    return node


async def chosen_node(cluster: SandboxCluster, choice: BrokerChoice) -> int:
    """The same, or a controller's id in KRaft mode. Raises SandboxError."""
    text = re.sub(r"^(broker|controller)-", "", str(choice).strip())
    if text.isdigit():
        if int(text) not in cluster.brokers.keys() | cluster.controllers.keys():
            raise SandboxError(f"there is no {node_in_words(text)}: {_ids(cluster)}")
        return int(text)
    if text != CONTROLLER and not _PART.fullmatch(text):
        raise SandboxError(
            f"{text!r} is no broker: give an id, {CONTROLLER}, or: leader of TOPIC-N, follower of TOPIC-N"
        )
    if text == CONTROLLER and isinstance(cluster.control, ControllerPlane):
        return await _active(cluster.control)
    broker = _playing(await _metadata(cluster), text)
    if broker not in cluster.brokers:
        raise SandboxError(f"there is no {text} now")
    return broker


def _ids(cluster: SandboxCluster) -> str:
    told = f"they are {min(cluster.brokers)} to {max(cluster.brokers)}"
    if not cluster.controllers:
        return told
    return f"brokers are {told.removeprefix('they are ')}, controllers {', '.join(map(str, cluster.controllers))}"


async def _active(control: ControllerPlane) -> int:
    """The active controller, for which an election is waited for."""
    until_s = time.monotonic() + ANSWER_TIMEOUT_S
    while time.monotonic() < until_s:
        if (active := await control.active()) is not None:
            return active
        await asyncio.sleep(POLL_S)
    raise SandboxError("there is no active controller now: no majority of the controllers takes part")


def _playing(metadata: Metadata, part: str) -> int:
    if part == CONTROLLER:
        return metadata.controller
    found = _PART.fullmatch(part)
    assert found is not None
    role, topic, number = found.groups()
    place = metadata.partitions.get(TopicPartition(topic, int(number)), PartitionPlace(NOBODY, (), ()))
    if role == "leader":
        return place.leader
    return next((broker for broker in place.isr if broker != place.leader), NOBODY)


async def _metadata(cluster: SandboxCluster) -> Metadata:
    client = cluster.client(timeout_s=ANSWER_TIMEOUT_S)
    try:
        return await client.refresh()
    except WireError as error:
        raise SandboxError(str(error)) from error
    finally:
        await client.close()


LONGEST_FAREWELL_S = 30.0


async def kill(site: Site, deed: faults.Kill) -> DeedOutcome:
    """SIGKILL."""
    node = await chosen_node(site.cluster, deed.broker)
    pid = _running(site, node).pid
    await _kill(site, node)
    return _of_node(node, f"was killed (SIGKILL, pid {pid})", faults.Start(node))


async def terminate(site: Site, deed: faults.Terminate) -> DeedOutcome:
    """SIGTERM, and wait for its end."""
    node = await chosen_node(site.cluster, deed.broker)
    process = _running(site, node)
    began = time.monotonic()
    in_order = await process.terminate(LONGEST_FAREWELL_S)
    site.cluster.links.is_gone(node)
    took = f"{time.monotonic() - began:.1f} s"
    how = f"left in order, {took} after SIGTERM" if in_order else f"did not leave within {took} and was killed"
    return _of_node(node, how, faults.Start(node))


async def start(site: Site, deed: faults.Start) -> DeedOutcome:
    """Bring a broker or controller back."""
    node = await chosen_node(site.cluster, deed.broker)
    began = time.monotonic()
    await site.cluster.start_node(node)
    return _of_node(node, f"is back after {time.monotonic() - began:.1f} s")


async def pause(site: Site, deed: faults.Pause) -> DeedOutcome:
    """SIGSTOP."""
    node = await chosen_node(site.cluster, deed.broker)
    process = _running(site, node)
    if process.status == "paused":
        raise SandboxError(f"{process.name} is paused already")
    await process.pause()
    return _of_node(node, "stands still (SIGSTOP), and does not know", faults.Resume(node))


async def resume(site: Site, deed: faults.Resume) -> DeedOutcome:
    """SIGCONT."""
    node = await chosen_node(site.cluster, deed.broker)
    process = _running(site, node)
    if process.status != "paused":
        raise SandboxError(f"{process.name} is not paused")
    process.resume()
    return _of_node(node, "goes on (SIGCONT)")


async def kill_controller(site: Site, deed: faults.KillController) -> DeedOutcome:
    """SIGKILL now; and again for the next one, by its own hand, where its failover reaches the step."""
    if deed.step and deed.step not in FAILOVER_STEPS:
        raise SandboxError(f"{deed.step!r} is no step of a failover: {', '.join(FAILOVER_STEPS)}")
    if deed.step and site.cluster.controllers:
        raise SandboxError("in KRaft mode a failover has no steps: the next controller has read the log already")
    broker = await chosen_node(site.cluster, CONTROLLER)
    _running(site, broker)
    disarm(site)
    if deed.step:
        for other in site.cluster.brokers.keys() - {broker}:
            site.armed[other] = deed.step
            _order(site, other).write_text(deed.step)
    await _kill(site, broker)
    text = f"the {'active ' if site.cluster.controllers else ''}controller, was killed (SIGKILL)"
    if deed.step:
        text += f"; the next one dies when its failover reaches {deed.step!r}"
    return _of_node(broker, text, faults.Start(broker))


def died_at_a_step(site: Site, broker: int) -> DeedOutcome | None:
    """What to say of a broker that has just ended, if it ended by an order to die in its failover."""
    step = site.armed.get(broker)
    if step is None or _order(site, broker).exists():
        return None
    disarm(site)
    site.cluster.brokers[broker].status = "killed"
    return _of_node(broker, f"died as the new controller, in its failover at {step!r}", faults.Start(broker))


def disarm(site: Site) -> None:
    """Nobody is to die in a failover any more."""
    for broker in site.armed:
        _order(site, broker).unlink(missing_ok=True)
    site.armed.clear()


async def kill_zookeeper(site: Site, deed: faults.KillZooKeeper) -> DeedOutcome:
    """SIGKILL for one server."""
    await site.cluster.ensemble.kill(deed.server)
    repair = faults.StartZooKeeper(deed.server)
    return DeedOutcome(f"ZooKeeper {deed.server} was killed (SIGKILL)", f"zookeeper {deed.server}", repair)


async def start_zookeeper(site: Site, deed: faults.StartZooKeeper) -> DeedOutcome:
    """Bring a server back; it keeps its port and what it knew."""
    await site.cluster.ensemble.start_again(deed.server)
    return DeedOutcome(f"ZooKeeper {deed.server} is back", f"zookeeper {deed.server}")


def _order(site: Site, broker: int) -> Path:
    return site.cluster.brokers[broker].faults / CONTROLLER_STOP_FILE


async def _kill(site: Site, node: int) -> None:
    await site.cluster.node(node).kill()
    site.cluster.links.is_gone(node)


def _running(site: Site, node: int) -> ServerProcess:
    process = site.cluster.node(node)
    if process.pid is None:
        raise SandboxError(f"{process.name} does not run")
    return process


def _of_node(node: int, text: str, repair: faults.Repair | None = None) -> DeedOutcome:
    name = node_in_words(str(node))
    return DeedOutcome(f"{name}, {text}" if text.startswith("the ") else f"{name} {text}", name, repair)


FLIPPED_BYTES = 4


async def fill(site: Site, deed: faults.FillLogDir) -> DeedOutcome:
    """Leave no room."""
    broker = await chosen_broker(site.cluster, deed.broker)
    process = site.cluster.brokers[broker]
    held = await asyncio.to_thread(_size_of, process.folder / "logs")
    limit = held if deed.limit_bytes is None else deed.limit_bytes
    if limit < 0:
        raise SandboxError(f"a limit of {limit} bytes: 0 or more are possible")
    (process.faults / LOG_DIR_LIMIT_FILE).write_text(str(limit))
    text = f"the log folder of broker {broker} takes no more than {limit:,} bytes; it holds {held:,}"
    return DeedOutcome(text, f"broker {broker}", faults.FreeLogDir(broker))


async def free(site: Site, deed: faults.FreeLogDir) -> DeedOutcome:
    """Take the limit away."""
    broker = await chosen_broker(site.cluster, deed.broker)
    file = site.cluster.brokers[broker].faults / LOG_DIR_LIMIT_FILE
    if not file.exists():
        raise SandboxError(f"the log folder of broker {broker} has no limit")
    file.unlink()
    return DeedOutcome(f"the log folder of broker {broker} has room again", f"broker {broker}")


async def corrupt(site: Site, deed: faults.CorruptSegment) -> DeedOutcome:
    """Flip bytes in the middle one of a segment's batches."""
    broker = await chosen_broker(site.cluster, deed.broker)
    flipped = await asyncio.to_thread(_flip, site.cluster.brokers[broker].folder / "logs" / deed.partition, deed)
    site.flipped[broker, deed.partition] = flipped
    text = (
        f"{FLIPPED_BYTES} bytes of {deed.partition}/{Path(flipped.path).name} on broker {broker} are flipped, "
        f"from position {flipped.position}"
    )
    return DeedOutcome(text, f"broker {broker}", faults.RestoreSegment(broker, deed.partition))


async def restore(site: Site, deed: faults.RestoreSegment) -> DeedOutcome:
    """Write the bytes back where they still are as they were left."""
    broker = await chosen_broker(site.cluster, deed.broker)
    flipped = site.flipped.pop((broker, deed.partition), None)
    if flipped is None:
        raise SandboxError(f"nothing was flipped in {deed.partition} of broker {broker}")
    subject = f"broker {broker}"
    if await asyncio.to_thread(_write_back, flipped):
        return DeedOutcome(f"the bytes of {deed.partition} on broker {broker} are as they were", subject)
    return DeedOutcome(f"broker {broker} has replaced what was flipped in {deed.partition} already", subject)


def _flip(folder: Path, deed: faults.CorruptSegment) -> FlippedBytes:
    segments = sorted(folder.glob("*.log"))
    if not segments:
        raise SandboxError(f"{deed.partition} has no segment there: {folder}")
    path = segments[-1] if deed.segment == "last" else segments[0]
    with SegmentFile(path) as source:
        batches = [each for each in scan(source) if isinstance(each, RecordBatch)]
    if not batches:
        raise SandboxError(f"{deed.partition}/{path.name} has no records to spoil")
    batch = batches[len(batches) // 2]
    position = batch.position + batch.size - FLIPPED_BYTES
    file = os.open(path, os.O_RDWR)
    try:
        before = os.pread(file, FLIPPED_BYTES, position)
        after = bytes(byte ^ 0xFF for byte in before)
        os.pwrite(file, after, position)
    finally:
        os.close(file)
    return FlippedBytes(str(path), position, before, after)


def _write_back(flipped: FlippedBytes) -> bool:
    try:
        file = os.open(flipped.path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        if os.pread(file, len(flipped.after), flipped.position) != flipped.after:
            return False
        os.pwrite(file, flipped.before, flipped.position)
    finally:
        os.close(file)
    return True


def _size_of(folder: Path) -> int:
    """Bytes of segments: indexes are larger on paper than on the disk."""
    return sum(file.stat().st_size for file in folder.glob("*/*.log"))

"""A whole sandbox without a ZooKeeper, and without Java: brokers and controllers are broken, and it comes back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from model.cluster.cluster_image import ClusterImage
from model.drills.drill import run
from model.drills.scenario import Act, Deed, of_acts
from model.log.checkpoints import read_meta_properties
from model.sandbox import faults
from model.sandbox.control.sandbox import RunningSandbox
from model.sandbox.messages import SandboxEvent, SandboxReady
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError
from model.sandbox.scenario import Expectation
from model.sandbox.scenario_run import WatchedCluster
from tests.harness.command import running
from tests.harness.sandbox import play, ready_line, started_sandbox
from tests.harness.waiting import PATIENCE_S, eventually_async
from tests.kraft_forecasts.foreseen import partitions, standing

LED = Expectation(expect="led", within_s=90)
IN_SYNC = Expectation(expect="in-sync", within_s=90)
FLOWING = Expectation(expect="flowing", within_s=90)
ELECTED = Expectation(expect="controller", moved=True, within_s=90)
NONE_LOST = Expectation(expect="none-lost")
SOON = {"broker.session.timeout.ms": "2500", "broker.heartbeat.interval.ms": "400"}
"""Who is silent is fenced before anybody gets tired of waiting."""
INTERNAL = {"__consumer_offsets"}


async def becomes(cluster: WatchedCluster, forecast: ClusterImage) -> None:
    """To the epoch of each partition."""
    until_s = time.monotonic() + PATIENCE_S
    while standing(cluster.image) != standing(forecast):
        assert time.monotonic() < until_s, (partitions(cluster.image), partitions(forecast))
        await asyncio.sleep(0.1)


def named(image: ClusterImage) -> set[str]:
    """Where the voters listen that the metadata log names, by their directories: each tells where it is now."""
    voters = () if image.quorum is None else image.quorum.voters
    return {endpoint for voter in voters if voter.directory_id for endpoint in voter.endpoints}


def registered(image: ClusterImage) -> set[int]:
    """Controllers; before all are, no feature can be raised."""
    return set() if image.metadata is None else {each.id for each in image.metadata.controllers}


async def refused(sandbox: RunningSandbox, deed: faults.Deed) -> str:
    with pytest.raises(SandboxError) as refusal:
        await sandbox.do(deed)
    return str(refusal.value)


async def break_all_kinds(sandbox: RunningSandbox) -> None:
    """A broker, whose death was forecast; the active controller; and the one after it, which is cut off."""
    await play(sandbox, IN_SYNC, FLOWING)
    async with WatchedCluster(sandbox.cluster.ready()) as cluster:
        forecast = run(cluster.image, of_acts([Act(Deed.KILL, (1,))])).after
        await sandbox.do(faults.Kill(1))
        await becomes(cluster, forecast)
        assert cluster.image.controller.broker in sandbox.cluster.controllers
    await play(sandbox, LED, faults.KillController(), ELECTED)
    undone = [asyncio.create_task(sandbox.do(faults.Undo())) for _ in sandbox.state.faults]
    await asyncio.sleep(0)
    assert await refused(sandbox, faults.Undo()) == await refused(sandbox, faults.UndoAll()) == "all is being undone"
    assert len({done.text for done in await asyncio.gather(*undone)}) == 2
    await play(sandbox, IN_SYNC)
    await play(sandbox, faults.CutLink(("controller", "controllers")), ELECTED, faults.Undo(), FLOWING)
    assert "no sessions in KRaft mode" in await refused(sandbox, faults.ExpireSession(1))
    assert "no ZooKeeper in KRaft mode" in await refused(sandbox, faults.KillZooKeeper(1))
    assert "a failover has no steps" in await refused(sandbox, faults.KillController("loaded"))
    assert "for brokers, not for controller 101" in await refused(sandbox, faults.FillLogDir(101))
    assert "there is no broker 7" in await refused(sandbox, faults.Kill(7))
    await play(sandbox, IN_SYNC, NONE_LOST)


async def test_it_is_broken_nothing_is_lost_and_a_kept_folder_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_gone: Callable[[int], bool]
) -> None:
    monkeypatch.setenv("KDRILL_JAVA", "/bin/false")
    events: list[SandboxEvent] = []
    lab = str(tmp_path / "lab")
    options = SandboxOptions(mode="kraft", brokers=2, racks=1, topics=1, partitions=3, folder=lab, keep=True)
    options = msgspec.structs.replace(options, load=True, rate=50.0, settings=SOON)
    async with started_sandbox(options, events.append) as sandbox:
        assert sandbox.cluster.ready().source.startswith("controllers://127.0.0.1:")
        groups = {each.name.partition("/")[0] for each in sandbox.state.processes if each.kind == "consumer"}
        assert groups <= {"consumer billing", "consumer reports"}
        await break_all_kinds(sandbox)
        saved = sandbox.scenario_text()
        assert 'mode = "kraft"' in saved and 'between = ["controller", "controllers"]' in saved
    assert not [each.text for each in events if "unasked" in each.text]
    identity = read_meta_properties(tmp_path / "lab" / "controller-101")
    assert read_meta_properties(tmp_path / "lab" / "broker-1" / "logs")["cluster.id"] == identity["cluster.id"]
    await comes_back_as_it_was(lab, is_gone)
    assert read_meta_properties(tmp_path / "lab" / "controller-101") == identity


async def comes_back_as_it_was(lab: str, is_gone: Callable[[int], bool]) -> None:
    """By the command, without its mode, which the folder knows; killed, it leaves no process behind."""
    with running("sandbox", "--headless", "--dir", lab, "--keep", "--brokers", "2", "--racks", "1") as process:
        ready = msgspec.convert(await asyncio.to_thread(ready_line, process), SandboxReady)
        assert sorted(ready.pids) == ["broker-1", "broker-2", "controller-101", "controller-102", "controller-103"]
        async with WatchedCluster(ready) as cluster:
            assert cluster.image.topics.keys() - INTERNAL == {"topic-1"}
            here = {f"CONTROLLER://{each}" for each in ready.controllers.split(",")}
            await eventually_async(lambda: named(cluster.image) == here, standing=lambda: (named(cluster.image), here))
            await eventually_async(lambda: registered(cluster.image) == {101, 102, 103}, "all to be registered")
        process.kill()
        await eventually_async(lambda: all(map(is_gone, ready.pids.values())))

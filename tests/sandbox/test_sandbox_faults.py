"""Faults on one real cluster, as an operator orders them: what is done, what the cluster makes of it, the repair."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from model.sandbox import faults
from model.sandbox.control.sandbox import RunningSandbox
from model.sandbox.messages import ProcessView, SandboxEvent
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError
from model.sandbox.scenario import Expectation, parse_scenario
from tests.harness.sandbox import play, started_sandbox
from tests.harness.waiting import eventually_async

pytestmark = pytest.mark.asyncio(loop_scope="module")

LED = Expectation(expect="led", within_s=90)
IN_SYNC = Expectation(expect="in-sync", within_s=120)
FLOWING = Expectation(expect="flowing", within_s=90)


class Lab(NamedTuple):
    """A sandbox under a small load, and what it told."""

    sandbox: RunningSandbox
    events: list[SandboxEvent]

    async def play(self, *what: faults.Deed | Expectation) -> None:
        await play(self.sandbox, *what)

    def process(self, name: str) -> ProcessView:
        return next(each for each in self.sandbox.state.processes if each.name == name)

    def link(self, *between: str) -> str:
        return next(each.status for each in self.sandbox.state.links if each.between == between)

    async def refused(self, deed: faults.Deed) -> str:
        with pytest.raises(SandboxError) as refusal:
            await self.sandbox.do(deed)
        return str(refusal.value)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lab() -> AsyncIterator[Lab]:
    events: list[SandboxEvent] = []
    async with started_sandbox(SandboxOptions(topics=2, partitions=3, load=True, rate=50), events.append) as running:
        lab = Lab(running, events)
        await lab.play(FLOWING)
        yield lab
    assert not Path(lab.sandbox.cluster.folder.path).exists()


async def test_of_a_load_that_does_not_flow_in_time_is_said_what_waits(lab: Lab):
    with pytest.raises(AssertionError, match=r"not within 0 s: no record was acknowledged; [\d,]+ wait"):
        await lab.play(Expectation(expect="flowing", within_s=0))


async def test_a_killed_broker_and_its_return(lab: Lab):
    victim = "leader of topic-1-0"
    moved = Expectation(expect="leader", partition="topic-1-0", moved=True, within_s=90)
    await lab.play(faults.Kill(victim), moved, LED, FLOWING)
    (fault,) = lab.sandbox.state.faults
    assert isinstance(fault.repair, faults.Start)
    name = f"broker {fault.repair.broker}"
    assert (lab.process(name).status, lab.process(name).pid) == ("killed", None)
    assert await lab.refused(faults.Kill(fault.repair.broker)) == f"{name} does not run"
    await lab.play(faults.Undo(), IN_SYNC)
    assert lab.process(name).status == "running"
    assert not lab.sandbox.state.faults
    told = [event for event in lab.events if event.fault == fault.number]
    assert [event.kind for event in told] == ["fault", "repair"]


async def test_a_paused_controller_is_overthrown_and_fenced(lab: Lab):
    await lab.play(faults.Pause("controller"), Expectation(expect="controller", moved=True, within_s=90), LED)
    (fault,) = lab.sandbox.state.faults
    assert "paused" in [each.status for each in lab.sandbox.state.processes]
    await lab.play(faults.Undo(fault.number), IN_SYNC, FLOWING)


async def test_an_expired_session_is_renewed(lab: Lab):
    moved = Expectation(expect="controller", moved=True, within_s=90)
    await lab.play(faults.ExpireSession("controller"), moved, IN_SYNC)
    assert not lab.sandbox.state.faults


async def test_a_cut_link_and_a_slow_one(lab: Lab):
    await lab.play(faults.CutLink(("2", "3")), faults.SlowLink(("clients", "1"), 20))
    assert (lab.link("2", "3"), lab.link("1", "clients"), lab.link("1", "2")) == ("cut", "slow", "open")
    assert await lab.refused(faults.CutLink(("3", "2"))) == "the link between broker 2 and broker 3 is cut already"
    await lab.play(FLOWING, faults.UndoAll(), IN_SYNC)
    assert {each.status for each in lab.sandbox.state.links} == {"open"}


async def test_a_controller_killed_at_a_step_of_its_failover(lab: Lab):
    await lab.play(faults.KillController("loaded"))
    await eventually_async(lambda: len(lab.sandbox.state.faults) == 2)
    assert "died as the new controller, in its failover at 'loaded'" in lab.sandbox.state.faults[-1].text
    await lab.play(faults.UndoAll(), Expectation(expect="controller", within_s=90), IN_SYNC)
    assert "half" in await lab.refused(faults.KillController("half"))


async def test_consumers_that_vanish(lab: Lab):
    await until_members(lab, VICTIM, among=True)
    await lab.play(faults.StopConsumer("billing", "c1"), faults.StopConsumer("reports", "z1"))
    assert {lab.process(f"consumer {name}").status for name in ("billing/c1", "reports/z1")} == {"killed"}
    assert VICTIM in await asyncio.to_thread(members, lab, "billing"), "it said goodbye"
    await until_members(lab, VICTIM, among=False)  # its session has ended
    assert "does not run" in await lab.refused(faults.StopConsumer("reports", "z1"))
    await lab.play(faults.UndoAll())
    owners = ("billing/c1", "billing/c2", "billing/c3", "reports/z1", "reports/z2")
    await eventually_async(lambda: all(lab.process(f"consumer {name}").status == "running" for name in owners))


VICTIM = "kdrill-load-billing-c1"


def members(lab: Lab, group: str) -> set[str]:
    """Client ids, as the group's coordinator knows them. In a thread: it is reached through this loop's proxies."""
    admin = AdminClient({"log_level": 0, "bootstrap.servers": lab.sandbox.cluster.bootstrap})
    described = admin.describe_consumer_groups([group])[group].result()
    return {member.client_id for member in described.members}


async def until_members(lab: Lab, client: str, *, among: bool) -> None:
    async with asyncio.timeout(90):
        while True:
            with suppress(KafkaException):  # the coordinator may be moving
                if (client in await asyncio.to_thread(members, lab, "billing")) == among:
                    return
            await asyncio.sleep(0.1)


async def test_a_broker_that_ends_unasked_is_told_of_with_its_last_words(lab: Lab):
    before = len(lab.events)
    pid = lab.process("broker 3").pid
    assert pid is not None
    process = await asyncio.create_subprocess_exec("kill", "-9", str(pid))
    await process.wait()
    await eventually_async(lambda: lab.process("broker 3").status == "crashed")
    (event,) = [each for each in lab.events[before:] if each.subject == "broker 3"]
    assert event.text.startswith("broker 3 ended unasked, exit code 137")
    assert event.details
    await lab.play(faults.Start(3), IN_SYNC)


async def test_a_broker_whose_disk_is_full_ends_itself_and_comes_back(lab: Lab):
    await lab.play(faults.FillLogDir(2, 0))
    await eventually_async(lambda: len(lab.sandbox.state.faults) == 2)
    full, ended = lab.sandbox.state.faults
    assert (full.repair, ended.repair) == (faults.FreeLogDir(2), faults.Start(2))
    assert lab.events[-1].fault == full.number
    await lab.play(faults.UndoAll(), IN_SYNC, FLOWING)


async def test_a_segment_that_is_spoilt_and_restored(lab: Lab):
    await lab.play(faults.SetRate(0))
    await lab.play(faults.CorruptSegment(2, "topic-2-1"))
    (fault,) = lab.sandbox.state.faults
    assert "4 bytes of topic-2-1/00000000000000000000.log on broker 2 are flipped" in fault.text
    await lab.play(faults.Undo(), faults.SetRate(50))
    assert "has no segment there" in await lab.refused(faults.CorruptSegment(2, "nothing-0"))


async def test_at_the_end_nothing_was_lost_and_the_session_can_be_saved(lab: Lab):
    report = await lab.sandbox.audit()
    assert report.is_clean, report
    assert report.acknowledged > 100
    saved = parse_scenario(lab.sandbox.scenario_text())
    assert saved.steps[0].what == faults.Kill("leader of topic-1-0")
    times = [step.at_s for step in saved.steps]
    assert all(earlier <= later for earlier, later in itertools.pairwise(times))

"""One run: rounds of random faults and their repair under load with acks=all, and what the audit proves then."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec

from model.sandbox import faults
from model.sandbox.control.sandbox import RunningSandbox
from model.sandbox.messages import AuditReport
from model.sandbox.options import Mode, SandboxOptions
from model.sandbox.scenario import Expectation, SandboxOutcome, SandboxScenario, ScenarioStep
from tests.harness.sandbox import play, started_sandbox
from tests.progress import Tell

SAFE = {"unclean.leader.election.enable": "false", "min.insync.replicas": "2"}
UNSAFE = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}
QUICK = {"replica.lag.time.max.ms": "3000"}
"""A follower that is away leaves the ISR soon, and records flow again."""


class RunResult(msgspec.Struct, frozen=True):
    """What came of it."""

    rounds: tuple[str, ...]
    """What was done in each, in words."""
    outcome: SandboxOutcome
    report: AuditReport


def options(*, mode: Mode = "zookeeper", unclean: bool = False, rate: float = 100.0) -> SandboxOptions:
    """Three brokers and a topic of which every broker has every partition."""
    settings = QUICK | (UNSAFE if unclean else SAFE)
    return SandboxOptions(mode=mode, topics=1, partitions=6, load=True, rate=rate, settings=settings)


def random_round(dice: random.Random) -> list[faults.Deed]:
    """One fault or two on different places, drawn from those that a cluster must survive without a loss."""
    brokers = ["1", "2", "3"]
    dice.shuffle(brokers)
    one, two, _ = brokers
    kinds: list[Callable[[], faults.Deed]] = [
        lambda: faults.Kill(int(one)),
        lambda: faults.Terminate(int(one)),
        lambda: faults.Pause(int(one)),
        lambda: faults.CutLink((one, two)),
        lambda: faults.CutLink((one, "zookeeper")),
        lambda: faults.CutLink((one, "clients")),
        lambda: faults.SlowLink((one, two), 200),
        lambda: faults.ExpireSession(int(one)),
        lambda: faults.Kill("controller"),
    ]
    first = dice.choice(kinds)()
    more = [faults.Pause(int(two)), faults.CutLink((two, "zookeeper")), faults.ExpireSession(int(two))]
    if first == faults.Kill("controller") or dice.random() < 0.7:
        return [first]  # the controller may be any of them
    return [first, dice.choice(more)]


def random_kraft_round(dice: random.Random) -> list[faults.Deed]:
    """The same in KRaft mode: a fault of a broker, of a controller, or one of each."""
    broker, other = dice.sample(("1", "2", "3"), 2)
    controller = dice.choice((101, 102, 103))
    of_brokers: list[faults.Deed] = [
        faults.Kill(int(broker)),
        faults.Terminate(int(broker)),
        faults.Pause(int(broker)),
        faults.CutLink((broker, other)),
        faults.CutLink((broker, "controllers")),
        faults.CutLink((broker, "clients")),
        faults.SlowLink((broker, "controllers"), 200),
    ]
    of_controllers: list[faults.Deed] = [
        faults.Kill("controller"),
        faults.Kill(controller),
        faults.Terminate("controller"),
        faults.Pause("controller"),
        faults.Pause(controller),
        faults.CutLink(("controller", "controllers")),
        faults.CutLink((str(controller), "controllers")),
    ]
    which = dice.choice(((of_brokers,), (of_controllers,), (of_brokers, of_controllers), (of_controllers, of_brokers)))
    return [dice.choice(deeds) for deeds in which]


async def play_rounds(rounds: int, seed: int, tell: Tell, mode: Mode = "zookeeper") -> RunResult:
    """Play so many; after each everything is repaired, and every replica has to come back in sync."""
    dice, draw = random.Random(seed), random_kraft_round if mode == "kraft" else random_round
    async with started_sandbox(options(mode=mode), lambda event: tell(f"{event.kind}: {event.text}")) as sandbox:
        told: list[str] = []
        steps = [ScenarioStep(0, Expectation(expect="flowing", within_s=120))]
        outcome = await sandbox.play(SandboxScenario(steps=tuple(steps)))
        for number in range(1, rounds + 1):
            deeds = draw(dice)
            told.append(", ".join(map(str, deeds)))
            tell(f"round {number} of {rounds}: {told[-1]}")
            outcome = await sandbox.play(_round(deeds, dice.uniform(0.5, 8.0)))
            if not outcome.passed:
                break
        return RunResult(tuple(told), outcome, await sandbox.audit())


def _round(deeds: list[faults.Deed], lasts_s: float) -> SandboxScenario:
    repairs: list[ScenarioStep] = [ScenarioStep(lasts_s, faults.UndoAll())]
    if all(isinstance(deed, faults.ExpireSession) for deed in deeds):
        repairs = []  # it undoes itself
    after = (Expectation(expect="in-sync", within_s=180), Expectation(expect="flowing", within_s=120))
    return SandboxScenario(
        steps=(*(ScenarioStep(0, deed) for deed in deeds), *repairs, *(ScenarioStep(lasts_s, each) for each in after)),
    )


async def lose_records(tell: Tell) -> AuditReport:
    """With unclean elections allowed: a follower falls behind, leads, and what only the old leader had is lost."""
    async with started_sandbox(options(unclean=True), lambda event: tell(f"{event.kind}: {event.text}")) as sandbox:
        leader, others = await _alone(sandbox)
        await play(sandbox, faults.Kill(leader))
        await play(sandbox, *(faults.Start(other) for other in others))
        await play(sandbox, Expectation(expect="led", within_s=120), Expectation(expect="flowing", within_s=120))
        await play(sandbox, faults.Start(leader), Expectation(expect="in-sync", within_s=180))
        return await sandbox.audit()


async def _alone(sandbox: RunningSandbox) -> tuple[int, list[int]]:
    """Leave one broker with what is acknowledged from then on; who, and who is down."""
    flowing = Expectation(expect="flowing", within_s=120)
    await play(sandbox, flowing, faults.Kill(2), Expectation(expect="led", within_s=120), flowing)
    await play(sandbox, faults.Kill(3), Expectation(expect="led", within_s=120), flowing, flowing)
    return 1, [2, 3]

"""The assignors beside Kafka's own, on groups as large as Kafka's tests know: CPU time, best of several after warm-up.

Ours gets and gives arrays; a figure with names in and out says what that leaves out. Both must come to the same answer.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from model.consumers.assignors.case import AssignmentCase, CaseMember, topic_id_hashes, topic_walk
from model.consumers.assignors.from_scratch import assign_ranges, assign_round_robin
from model.consumers.assignors.group import NO_GENERATION, Claims, GroupToAssign, Ints, ownership
from model.consumers.assignors.java_hashing import string_hashes, walk
from model.consumers.assignors.sticky import assign_cooperatively, assign_sticky
from model.consumers.assignors.strategies import STRATEGIES, assign
from model.consumers.assignors.uniform import assign_uniformly
from tests.benchmarks.figure import Figure
from tests.conformance.java.answers import java_command

ASSIGNORS: dict[str, Callable[[GroupToAssign], Ints]] = {
    "range": assign_ranges,
    "roundrobin": assign_round_robin,
    "sticky": lambda group: assign_sticky(group, ownership(group)),
    "cooperative-sticky": lambda group: assign_cooperatively(group, ownership(group))[0],
    "uniform": lambda group: assign_uniformly(group, ownership(group)),
}
PHASES = ("initial", "nochange", "leave", "join")


def no_claims(members: int) -> Claims:
    """Nobody owns anything."""
    none = np.full(members, NO_GENERATION, dtype=np.int64)
    return Claims(np.zeros(0, dtype=np.int32), np.zeros(members + 1, dtype=np.int64), none, none)


@dataclass(frozen=True)
class Scenario:
    """A group and what happens to it. That one joins an unequal group takes Java minutes, so it is measured once."""

    form: str
    topics: int
    partitions: int
    members: int
    assignor: str
    goal: float
    phases: tuple[str, ...] = PHASES
    times: int = 4

    @property
    def size(self) -> str:
        """Topics, partitions of each, members."""
        return f"{self.topics}x{self.partitions}x{self.members}"

    @property
    def words(self) -> list[str]:
        """The arguments of AssignorTimes."""
        sizes = map(str, (self.topics, self.partitions, self.members, self.times))
        return [self.form, self.assignor, *sizes, ",".join(self.phases)]


LARGE = (500, 2000, 2000)
SCENARIOS = (
    Scenario("same", *LARGE, "sticky", 50),
    Scenario("same", *LARGE, "cooperative-sticky", 50),
    Scenario("same", *LARGE, "uniform", 1),
    Scenario("same", *LARGE, "range", 1, ("initial",)),
    Scenario("same", *LARGE, "roundrobin", 1, ("initial",)),
    Scenario("halves", 100, 200, 500, "sticky", 100, ("initial", "nochange", "leave")),
    Scenario("halves", 100, 200, 500, "cooperative-sticky", 100, ("initial", "nochange", "leave")),
    Scenario("lastone", *LARGE, "sticky", 50, ("initial", "nochange", "leave"), 2),
    Scenario("lastone", *LARGE, "cooperative-sticky", 50, ("initial", "nochange", "leave"), 2),
    Scenario("halves", 100, 200, 500, "sticky", 100, ("join",), 1),
)
WITH_NAMES = (("sticky", "same"), ("sticky", "lastone"))


def measure(_folder: Path) -> Iterable[Figure]:
    """Figures of all scenarios; raises AssertionError if an answer is not Kafka's."""
    yield peak_memory()
    for scenario in SCENARIOS:
        yield from compared(scenario)


def compared(scenario: Scenario) -> Iterator[Figure]:
    """Ours beside Java's, phase by phase."""
    command = java_command("AssignorTimes", "3.9.1", "-Xmx6g", "-XX:+UseParallelGC")
    told = subprocess.run([*command, *scenario.words], capture_output=True, text=True, check=True).stdout
    for line in told.splitlines():
        phase, nanoseconds, checksum = line.split()
        java_s, group = int(nanoseconds) / 1e9, group_of(scenario, phase)
        ours_s, owner = fastest(lambda group=group: ASSIGNORS[scenario.assignor](replace(group)), scenario.times)
        assert checksum_of(owner) == int(checksum), f"{scenario} {phase}: another answer than Kafka's"
        what = f"{scenario.assignor}, {scenario.form} {scenario.size}, {phase}"
        yield Figure(what, ours_s, "Java 3.9.1", java_s, scenario.goal, f"{ours_s * 1e3:.2f} ms")
        if (scenario.assignor, scenario.form) in WITH_NAMES:
            yield Figure(f"{what}, names in and out", with_names(scenario, group), "Java 3.9.1", java_s)


def fastest(work: Callable[[], Ints], times: int) -> tuple[float, Ints]:
    """CPU seconds of the best of several runs, and what the last came to."""
    best, result = float("inf"), work()
    for _ in range(max(times, 5)):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def checksum_of(owner: Ints) -> int:
    """As AssignorTimes has it: base 31, in Java's long."""
    powers = np.cumprod(np.full(len(owner) - 1, 31, dtype=np.uint64))[::-1]
    weights = np.concatenate((powers, np.ones(1, dtype=np.uint64)))
    return int(((owner.astype(np.int64) + 1).astype(np.uint64) * weights).sum().astype(np.int64))


def names(start: str, count: int) -> list[str]:
    return [f"{start}{number:0{len(str(count))}}" for number in range(count)]


def topics_of(scenario: Scenario, member: int) -> Ints:
    topics, half = np.arange(scenario.topics), scenario.topics // 2
    if scenario.form == "lastone" and member == scenario.members - 1:
        return topics[:1]
    if scenario.form == "halves":
        return topics[:half] if member % 4 == 0 else topics[half:]
    return topics


def group_of(scenario: Scenario, phase: str) -> GroupToAssign:
    """The group of a phase, with what its members own from the initial one."""
    members, topics = names("c", scenario.members), names("t", scenario.topics)
    lists = {tuple(topics_of(scenario, c).tolist()): 0 for c in range(scenario.members)}
    places = {told: place for place, told in enumerate(lists)}
    of = [places[tuple(topics_of(scenario, c).tolist())] for c in range(scenario.members)]
    claims = no_claims(len(members))
    if phase != "initial":
        owner = ASSIGNORS[scenario.assignor](group_of(scenario, "initial"))
        gone = scenario.members // 2 if phase == "leave" else None
        claims = claims_of(owner, scenario.members, gone)
        if gone is not None:
            del members[gone], of[gone]
        if phase == "join":
            members, of = [*members, "zz-new"], [*of, of[0]]
            claims = Claims(claims.partitions, *(np.append(part, part[-1]) for part in claims[1:]))
    uniform = scenario.assignor == "uniform"
    hashes = topic_id_hashes(topics, {}) if uniform else string_hashes(topics)
    numbers = {topic: number for number, topic in enumerate(topics)}
    return GroupToAssign(
        partition_counts=np.full(scenario.topics, scenario.partitions, dtype=np.int64),
        subscriptions=[np.array(told, dtype=np.intp) for told in lists],
        subscription_of=np.array(of),
        alike=len(lists) == 1,
        claims=claims,
        ring=np.arange(len(members)),
        walk=walk(string_hashes(members)),
        topic_hashes=hashes,
        topic_walk=topic_walk([topics], numbers, hashes, alike=True) if uniform else np.arange(0),
    )


def claims_of(owner: Ints, members: int, gone: int | None) -> Claims:
    """What members say they own, in the order of topics and numbers; nothing is heard of who is gone."""
    order = np.argsort(owner, kind="stable").astype(np.int32)
    counts = np.bincount(owner, minlength=members)
    if gone is not None:
        order, counts = order[owner[order] != gone], np.delete(counts, gone)
    generations = np.ones(len(counts), dtype=np.int64)
    return Claims(order, np.concatenate(([0], np.cumsum(counts))), generations, generations)


def with_names(scenario: Scenario, group: GroupToAssign) -> float:
    """CPU seconds of the same with names in and out: lists of (topic, number) by member, as Java has them."""
    topics, ids = names("t", scenario.topics), [f"c{number:05}" for number in range(group.members)]
    lists = [[topics[t] for t in told.tolist()] for told in group.subscriptions]
    claimed = zip(*(part.tolist() for part in group.located(group.claims.partitions)), strict=True)
    owned, at = [(topics[topic], number) for topic, number in claimed], group.claims.starts.tolist()
    members = {
        name: CaseMember(topics=lists[group.subscription_of[c]], owned=owned[at[c] : at[c + 1]], generation=1)
        for c, name in enumerate(ids)
    }
    case = AssignmentCase(topics=dict.fromkeys(topics, scenario.partitions), members=members)
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        assign(case, STRATEGIES[scenario.assignor]).lists()
        best = min(best, time.process_time() - start)
    return best


def peak_memory() -> Figure:
    """Memory of a process of its own that assigns the largest groups."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([sys.executable, "-m", __name__], capture_output=True, text=True, check=True)
    took_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return Figure("peak memory of a process, largest groups", took_s, note=done.stdout.strip())


def _largest() -> None:
    for scenario in (SCENARIOS[0], SCENARIOS[7]):
        for phase in ("initial", "leave", "join"):
            ASSIGNORS[scenario.assignor](group_of(scenario, phase))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{peak} MB, arrays to ask with and the interpreter included; goal 300 MB")


if __name__ == "__main__":
    _largest()

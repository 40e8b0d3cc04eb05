"""One history of a KRaft quorum, to run or to read: faults and changes for some seconds, then peace."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from model.raft.messages import (
    AddVoter,
    RecordsProposed,
    RemoveVoter,
    StopWanted,
    TimePassed,
    UpgradeKraftVersion,
)
from model.raft.node import Leader
from model.raft.raft_log import ReplicaKey, Voter, VoterSet
from tests.simulation.raft.world import World
from tests.simulation.violation import ViolationError, promise

TROUBLED_MS = 12_000
PEACE_MS = 30_000
"""At most so long until all is well again."""


def play(seed: int) -> int:
    """The steps that it took. Raises ViolationError."""
    history = History(seed)
    try:
        history.run()
    except ViolationError as error:
        raise ViolationError(f"seed {seed}, at {history.world.now_ms} ms: {error}") from error
    return history.world.steps


def tell(seed: int) -> Iterator[str]:
    """What happens in it, up to where a promise breaks."""
    history = History(seed)
    failure = ""
    try:
        history.run()
    except ViolationError as error:
        failure = f"at {history.world.now_ms} ms: {error}"
    yield from history.world.said
    if failure:
        yield failure


class History:
    """A quorum by its seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        rng = self.rng
        kraft_version = 0 if rng.random() < 0.2 else 1
        count = rng.choice((1, 2, 3, 3, 3, 3, 4, 5))
        nodes = [_node(id_) for id_ in range(1, count + rng.randint(0, 2) + 1)]
        old = frozenset(id_ for id_ in range(1, count + 1) if rng.random() < 0.3) if rng.random() < 0.2 else frozenset()
        voters = VoterSet.of((_as_voter(node, kraft_version) for node in nodes[:count]), kraft_version)
        self.world = World(rng, voters, tuple(nodes), old)
        self._proposed = 0
        self._acts: tuple[tuple[int, Callable[[], object]], ...] = (
            (30, self._propose),
            (8, self._crash),
            (5, self._crash_within),
            (14, self._start),
            (4, self._pause),
            (6, self._cut),
            (5, self._isolate),
            (8, self.world.heal),
            (3, self._slow_down),
            (5, self._make_fragile),
            (10, self._snapshot),
            (8, self._add_voter),
            (6, self._remove_voter),
            (3 - 3 * kraft_version, self._upgrade),
            (4, self._stop),
        )

    def run(self) -> None:
        """All of it."""
        world = self.world
        for id_ in world.replicas:
            world.later(self.rng.randint(0, 500), lambda id_=id_: world.start(id_))
        weights = [weight for weight, _ in self._acts]
        hurry = self.rng.choice((100, 300, 1_000))
        while world.now_ms < TROUBLED_MS:
            world.run_until(world.now_ms + self.rng.randint(1, hurry))
            self.rng.choices(self._acts, weights)[0][1]()
        self._end_well()

    def _end_well(self) -> None:
        """With all processes alive and all connections whole, everybody has the same log, and more can be written."""
        world = self.world
        world.heal()
        for replica in world.replicas.values():
            replica.paused_until_ms = 0
        deadline, is_written = world.now_ms + PEACE_MS, False
        while world.now_ms < deadline:
            for id_ in world.replicas:
                world.start(id_)
            world.run_until(world.now_ms + 500)
            if is_written and self._is_whole():
                return
            is_written = is_written or self._propose()
        standing = [
            f"{id_} {type(node.role).__name__} {node.epoch} ends {node.log.end} mark {node.log.high_watermark}"
            for id_, node in world.living()
        ]
        promise(False, f"no peace after {PEACE_MS} ms: {'; '.join(standing)}")

    def _is_whole(self) -> bool:
        ends = {(node.log.end, node.log.high_watermark) for _, node in self.world.living()}
        end = self.world.promises.committed[-1].next_offset if self.world.promises.committed else 0
        return ends == {(end, end)}

    def _leaders(self) -> list[int]:
        return [id_ for id_, node in self.world.living() if isinstance(node.role, Leader)]

    def _somebody(self) -> int:
        return self.rng.choice(list(self.world.replicas))

    def _propose(self) -> bool:
        """Who takes itself for a leader writes."""
        leaders = self._leaders()
        for id_ in leaders:
            node = self.world.replicas[id_].node
            if node is None:
                continue
            self._proposed += 1
            records = tuple(
                (self.rng.randint(1, 3), b"%d.%d" % (self._proposed, each)) for each in range(self.rng.randint(1, 3))
            )
            self.world.tell(id_, RecordsProposed(node.epoch, records))
        return bool(leaders)

    def _crash(self) -> None:
        self.world.crash(self.rng.choice(self._leaders() or [self._somebody()]) if self._often() else self._somebody())

    def _often(self) -> bool:
        return self.rng.random() < 0.5

    def _crash_within(self) -> None:
        leaders = self._leaders()
        if leaders and self._often():
            id_ = self.rng.choice(leaders)
            node = self.world.replicas[id_].node
            epoch = node.epoch if node is not None else 0
            self._proposed += 1
            self.world.crash_within(id_, RecordsProposed(epoch, ((1, b"%d" % self._proposed), (2, b"x"))))
        else:
            self.world.crash_within(self._somebody(), TimePassed())

    def _start(self) -> None:
        for id_ in self.world.replicas:
            if self._often():
                self.world.start(id_)

    def _pause(self) -> None:
        replica = self.world.replicas[self._somebody()]
        if replica.node is not None:
            until_ms = self.world.now_ms + self.rng.randint(100, 5_000)
            self.world.say(f"{replica.me.key.id} stands still until {until_ms}")
            replica.paused_until_ms = until_ms

    def _cut(self) -> None:
        one, other = self._somebody(), self._somebody()
        self.world.say(f"nothing gets from {one} to {other}")
        self.world.cuts.add((one, other))
        if self._often():
            self.world.cuts.add((other, one))

    def _isolate(self) -> None:
        self.world.isolate(self._somebody())

    def _slow_down(self) -> None:
        self.world.slow_ms = self.rng.choice((50, 300, 1_500))
        self.world.say(f"answers take up to {self.world.slow_ms} ms")

    def _make_fragile(self) -> None:
        self.world.fragile = self.rng.choice((0.005, 0.05, 0.2))
        self.world.say(f"one event in {1 / self.world.fragile:g} is deadly")

    def _snapshot(self) -> None:
        self.world.make_snapshot(self._somebody())

    def _add_voter(self) -> None:
        for id_ in self._leaders():
            self.world.ask(id_, AddVoter(None, self.world.replicas[self._somebody()].me, self._often()))

    def _remove_voter(self) -> None:
        for id_ in self._leaders():
            self.world.ask(id_, RemoveVoter(None, self.world.replicas[self._somebody()].me.key))

    def _upgrade(self) -> None:
        for id_ in self._leaders():
            self.world.ask(id_, UpgradeKraftVersion(1))

    def _stop(self) -> None:
        self.world.tell(self.rng.choice(self._leaders() or [self._somebody()]), StopWanted())


def _node(id_: int) -> Voter:
    return Voter(ReplicaKey(id_, f"directory-{id_}"), (f"node-{id_}", 9093))


def _as_voter(node: Voter, kraft_version: int) -> Voter:
    """Configured voters have no directories."""
    return node if kraft_version else Voter(ReplicaKey(node.key.id), node.address)

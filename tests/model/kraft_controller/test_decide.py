"""What the controller writes when something happens to a broker: worked cases, run with the real classes of 4.0 to 4.4.

S: brokers 1, 2, 3 active; p0 [1,2,3], p1 [2,3,1], p2 [3,1,2], p3 [1,3,2], all in sync; min ISR 2; unclean off.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import KraftMetadata
from model.kraft_controller.cluster import (
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    KraftCluster,
    MetadataRecord,
    PartitionChanged,
)
from model.kraft_controller.decide import (
    BrokerCaughtUp,
    BrokerRegisters,
    BrokerSilent,
    IsrsProposed,
    KraftEvent,
    ShutdownWanted,
    UnregisterWanted,
    decide,
)
from model.kraft_controller.partition_change import HIGHEST_LEVELS, Levels, PartitionChange, levels_of, release_of
from tests.model.drills.clusters import cluster

REPLICAS = {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2), 3: (1, 3, 2)}
LEVELS = Levels((4, 4), 33)
ELR = Levels((4, 4), 33, elr=True)


def image_of(replicas: dict[int, tuple[int, ...]], least: str = "2") -> ClusterImage:
    states = tuple(r.PartitionState(number, each[0], 0, each, elr=(), last_known_elr=())
                   for number, each in replicas.items())  # fmt: skip
    return cluster(
        [1, 2, 3],
        r.GenerationRecognised(generation="kraft"),
        r.TopicAssigned(topic="foo", replicas=replicas),
        r.PartitionStatesWritten(topic="foo", states=states),
        r.ConfigChanged(entity="topics/foo", config={"min.insync.replicas": least}),
    )


def state_s(levels: Levels, *events: KraftEvent) -> KraftCluster:
    return after(KraftCluster(image_of(REPLICAS), levels=levels), *events)


def after(found: KraftCluster, *events: KraftEvent) -> KraftCluster:
    for event in events:
        found = found.after(decide(found, event).records)
    return found


def told(found: KraftCluster, event: KraftEvent) -> list[object]:
    """Records, those of partitions as their number and what they set."""
    return [_told(each) for each in decide(found, event).records]


def _told(record: MetadataRecord) -> object:
    if not isinstance(record, PartitionChanged):
        return record
    set_ = {name: value for name in PartitionChange.__struct_fields__
            if (value := getattr(record.change, name)) is not None}  # fmt: skip
    return record.partition.partition, set_


def fenced(broker: int, is_fenced: bool = True) -> BrokerChanged:
    return BrokerChanged(broker, fenced=is_fenced)


def test_c1_to_c4_two_sessions_are_over() -> None:
    without = state_s(LEVELS, BrokerSilent(3))
    led, shrunk = {"leader": 2, "isr": (2,)}, {"isr": (2,)}
    assert told(without, BrokerSilent(1)) == [(0, led), (1, shrunk), (2, led), (3, led), fenced(1)]
    last = after(without, BrokerSilent(1))
    assert told(last, BrokerSilent(2)) == [*((number, {"leader": -1}) for number in range(4)), fenced(2)]
    kept = after(state_s(ELR, BrokerSilent(3)), BrokerSilent(1))
    assert all(kept.partition(TopicPartition("foo", number)).elr == (1,) for number in range(4))
    gone = {"leader": -1, "isr": (), "elr": (1, 2), "last_known_elr": (2,)}
    assert told(kept, BrokerSilent(2)) == [*((number, gone) for number in range(4)), fenced(2)]


def test_c5_and_c6_they_come_back() -> None:
    deaths = (BrokerSilent(3), BrokerSilent(1), BrokerSilent(2))
    down = state_s(LEVELS, *deaths)
    assert told(down, BrokerCaughtUp(3)) == [fenced(3, False)]
    assert told(down, BrokerCaughtUp(2)) == [fenced(2, False), *((number, {"leader": 2}) for number in range(4))]
    down = state_s(ELR, *deaths)
    assert told(down, BrokerCaughtUp(3)) == [fenced(3, False)]
    led = {"leader": 1, "isr": (1,), "elr": (2,), "last_known_elr": ()}
    assert told(down, BrokerCaughtUp(1)) == [fenced(1, False), *((number, led) for number in range(4))]
    assert told(after(down, BrokerCaughtUp(1)), BrokerCaughtUp(2)) == [fenced(2, False)]


def test_c7_an_only_replica_leads_again() -> None:
    single = after(KraftCluster(image_of({0: (3,)}, "1"), levels=LEVELS), BrokerSilent(3))
    assert told(single, BrokerCaughtUp(3)) == [fenced(3, False), (0, {"leader": 3})]
    kept = after(KraftCluster(image_of({0: (3,)}, "1"), levels=ELR), BrokerSilent(3))
    led = {"leader": 3, "isr": (3,), "elr": (), "last_known_elr": ()}
    assert told(kept, BrokerCaughtUp(3)) == [fenced(3, False), (0, led)]


def test_c8_and_c14_controlled_shutdowns() -> None:
    assert told(state_s(LEVELS), ShutdownWanted(1)) == [
        BrokerChanged(1, in_controlled_shutdown=True),
        (0, {"leader": 2, "isr": (2, 3)}),
        (1, {"isr": (2, 3)}),
        (2, {"isr": (3, 2)}),
        (3, {"leader": 3, "isr": (3, 2)}),
    ]
    follower = KraftCluster(image_of({0: (2, 3, 1)}), levels=LEVELS)
    assert told(follower, ShutdownWanted(1)) == [(0, {"isr": (2, 3)}), fenced(1)]
    leaving = state_s(LEVELS, ShutdownWanted(1))
    assert told(leaving, IsrsProposed(2, {TopicPartition("foo", 0): (2, 3, 1)})) == []  # c13: it is not active
    assert told(leaving, ShutdownWanted(1)) == [fenced(1)]


def test_c16_two_stop_together() -> None:
    both = KraftCluster(image_of({0: (1, 2), 1: (2, 1)}), levels=LEVELS)
    first = after(both, ShutdownWanted(1))
    assert told(first, ShutdownWanted(2)) == [
        BrokerChanged(2, in_controlled_shutdown=True), (0, {"leader": -1}), (1, {"leader": -1}),
    ]  # fmt: skip


def test_c21_and_c22_unregistered() -> None:
    assert told(state_s(LEVELS), UnregisterWanted(1))[-1] == BrokerUnregistered(1)
    alone = state_s(ELR, BrokerSilent(3), BrokerSilent(2))
    assert told(alone, UnregisterWanted(2)) == [BrokerUnregistered(2)]
    assert after(alone, UnregisterWanted(2)).partition(TopicPartition("foo", 0)).elr == (2,)


@pytest.mark.parametrize("release", [*HIGHEST_LEVELS])
def test_c23_to_c25_who_registers_anew_is_taken_out_from_4_0_on(release: tuple[int, int]) -> None:
    levels = Levels(release, HIGHEST_LEVELS[release])
    found = told(state_s(levels), BrokerRegisters(1, 107, clean=True))
    assert found[-1] == BrokerRegistered(1, 107, rack="r1")
    assert len(found) == (5 if release >= (4, 0) else 1)
    if release >= (4, 1):
        small = state_s(levels._replace(elr=True), BrokerSilent(3))
        assert told(small, BrokerRegisters(1, 107, clean=False))[0] == (0, {"leader": 2, "isr": (2,)})
        assert told(small, BrokerRegisters(1, 107, clean=True))[0] == (0, {"leader": 2, "isr": (2,), "elr": (1,)})
        eligible = after(small, BrokerSilent(1))
        assert told(eligible, BrokerRegisters(1, 107, clean=False))[0] == (0, {"elr": ()})
        assert told(eligible, BrokerRegisters(1, 107, clean=True)) == [BrokerRegistered(1, 107, rack="r1")]


def test_c26_and_c27_a_single_replica_comes_back() -> None:
    single = after(KraftCluster(image_of({0: (1,)}, "1"), levels=ELR), BrokerSilent(1))
    killed = after(single, BrokerRegisters(1, 9, clean=False))
    lossy = {"leader": 1, "isr": (1,), "last_known_elr": (), "recovering": True}
    assert told(killed, BrokerCaughtUp(1)) == [fenced(1, False), (0, lossy)]
    assert decide(killed, BrokerCaughtUp(1)).records[1].unclean  # type: ignore[union-attr]
    stopped = after(single, BrokerRegisters(1, 9, clean=True))
    assert told(stopped, BrokerCaughtUp(1)) == [
        fenced(1, False), (0, {"leader": 1, "isr": (1,), "elr": (), "last_known_elr": ()}),
    ]  # fmt: skip


def test_levels_are_those_of_the_controllers() -> None:
    found = image_of(REPLICAS)
    assert levels_of(found) == Levels()
    supported = {1: {"metadata.version": (7, 33)}, 2: {"metadata.version": (7, 27)}}
    metadata = KraftMetadata({"metadata.version": 25, "eligible.leader.replicas.version": 1}, supported=supported)
    assert levels_of(msgspec.structs.replace(found, metadata=metadata)) == Levels((4, 4), 25, elr=True)
    assert [release_of(level) for level in (1, 7, 14, 21, 25, 33, 99)] == [
        (3, 3), (3, 3), (3, 6), (3, 9), (4, 0), (4, 4), (4, 4),
    ]  # fmt: skip


EVENTS = st.builds(
    lambda kind, broker, clean: BrokerRegisters(broker, 9, clean) if kind is BrokerRegisters else kind(broker),
    st.sampled_from([BrokerSilent, ShutdownWanted, BrokerRegisters, BrokerCaughtUp]),
    st.integers(1, 3),
    st.booleans(),
)


@given(st.lists(EVENTS, max_size=12), st.sampled_from([LEVELS, ELR, Levels((3, 9), 21), Levels((3, 5), 11)]))
def test_whatever_happens_whoever_leads_is_active_and_in_sync(events: list[KraftEvent], levels: Levels) -> None:
    """Until 3.9 whoever registers anew without being fenced leads on, though it is fenced by that. Who is in its
    controlled shutdown never asks to be unfenced."""
    found = state_s(levels)
    for event in events:
        if isinstance(event, BrokerCaughtUp) and found.brokers[event.broker].in_controlled_shutdown:
            continue
        if isinstance(event, BrokerRegisters) and found.brokers[event.broker].is_active and levels.release < (4, 0):
            continue
        before = {number: found.partition(TopicPartition("foo", number)) for number in REPLICAS}
        found = after(found, event)
        for number, was in before.items():
            now = found.partition(TopicPartition("foo", number))
            assert now.leader == -1 or (now.leader in now.isr and found.is_active(now.leader))
            assert not set(now.isr) & set(now.elr)
            assert now.leader_epoch - was.leader_epoch in range(now.partition_epoch - was.partition_epoch + 1)
            assert now.leader == was.leader or now.leader_epoch > was.leader_epoch

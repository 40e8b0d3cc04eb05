"""Heartbeats and sessions: worked cases C8 to C30 and J, run with the real classes of 3.3.2, 3.9.1 and 4.0 to 4.4."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import BrokerChanged, BrokerRegistered, KraftCluster
from model.kraft_controller.decide import BrokerRegisters, BrokerSilent, decide
from model.kraft_controller.heartbeats import (
    BrokerControlState,
    Heartbeat,
    HeartbeatTable,
    KnownRegistrations,
    Registering,
    heard,
    left_at,
    look,
    lowest_offset,
    next_pace,
    registration_error,
)
from model.kraft_controller.partition_change import HIGHEST_LEVELS, LOST, Levels
from tests.model.kraft_controller.clusters import active, made, part, told

S = [part(1, 2, 3), part(2, 3, 1), part(3, 1, 2), part(1, 3, 2)]
ELR = {"l": -1, "I": [], "E": [1], "K": [1]}


class Controller:
    """The active one: the log's end, its memory, and what it wrote last."""

    def __init__(self, cluster: KraftCluster, memory: HeartbeatTable | None = None, end: int = 5_005) -> None:
        self.cluster = cluster
        self.memory = memory or HeartbeatTable()
        self.end = end

    def hears(self, broker: int, offset: int = 4_000, now_ms: float = 0.0, **wants: Any) -> tuple[list[object], Any]:
        epoch = wants.pop("epoch", 100 * broker)
        found = heard(self.cluster, self.memory, Heartbeat(broker, epoch, offset, **wants), now_ms)
        if found.error.name != "none":
            self.memory = found.memory
            return [found.error.name], None
        self.memory = found.memory
        records: list[object] = []
        for event in found.events:
            written = decide(self.cluster, event).records
            records += told(written)
            self.cluster = self.cluster.after(written)
            for each in written:
                if isinstance(each, BrokerChanged | BrokerRegistered):
                    self.memory = self.memory.after(each)
            if any(isinstance(each, BrokerChanged) and each.in_controlled_shutdown for each in written):
                self.memory = left_at(self.memory, broker, self.end)
        return records, found.reply


def controller(levels: Levels | None = None, partitions: list[Any] | None = None) -> Controller:
    return Controller(made(levels or Levels((4, 4), 23), {"foo": partitions or S}, active(1, 2, 3)))


def fenced(broker: int, is_fenced: bool = True) -> BrokerChanged:
    return BrokerChanged(broker, fenced=is_fenced)


def test_c8_to_c12_a_stop_in_order_waits_for_all_others() -> None:
    it = controller()
    records, reply = it.hears(1, wants_shutdown=True)
    assert records[0] == BrokerChanged(1, in_controlled_shutdown=True) and len(records) == 5
    assert (reply.is_fenced, reply.should_shut_down, it.memory.shutdown_offsets) == (False, False, {1: 5_005})
    assert it.hears(1, wants_shutdown=True)[0] == []
    assert it.hears(1, wants_shutdown=False)[0] == []  # c12: the wish is not looked at any more
    it.hears(2, 5_005)
    assert it.hears(1, wants_shutdown=True)[0] == []
    it.hears(3, 5_005)
    records, reply = it.hears(1, wants_shutdown=True)
    assert (records, reply.is_fenced, reply.should_shut_down) == ([fenced(1)], True, True)
    assert it.hears(1, wants_shutdown=True)[0] == [fenced(1)]
    assert it.hears(1)[0] == [fenced(1, False)]


def test_c14_and_c15_who_leads_nothing_and_who_is_alone() -> None:
    follower = controller(partitions=[part(2, 3, 1)])
    records, reply = follower.hears(1, wants_shutdown=True)
    assert records == [(0, {"I": [2, 3]}), fenced(1)] and reply.should_shut_down
    for elr, lost in ((False, {"l": -1}), (True, ELR)):
        alone = Controller(made(Levels((4, 4), 23, elr=elr), {"foo": [part(1)]}, active(1)))
        assert alone.hears(1, wants_shutdown=True)[0] == [BrokerChanged(1, in_controlled_shutdown=True), (0, lost)]
        assert alone.hears(1, wants_shutdown=True)[0] == [fenced(1)]


def test_c16_and_c17_nobody_waits_for_who_stops_too_nor_after_a_failover() -> None:
    both = Controller(made(Levels((4, 4), 23), {"foo": [part(1, 2), part(2, 1)]}, active(1, 2)))
    both.hears(1, wants_shutdown=True)
    records, _ = both.hears(2, wants_shutdown=True)
    assert records == [BrokerChanged(2, in_controlled_shutdown=True), (0, {"l": -1}), (1, {"l": -1})]
    assert both.hears(1, wants_shutdown=True)[0] == [fenced(1)]
    assert both.hears(2, wants_shutdown=True)[0] == [fenced(2)]
    moved = controller()
    moved.hears(1, wants_shutdown=True)
    moved.memory = moved.memory.after_failover(moved.cluster, 0)
    assert moved.hears(1, wants_shutdown=True)[0] == [fenced(1)]


def test_who_dies_while_it_stops_comes_back_as_any_other() -> None:
    it = controller()
    it.hears(1, wants_shutdown=True)
    died = look(it.cluster, it.memory, 10_000)
    assert died.fenced == 1
    (change,) = decide(it.cluster, BrokerSilent(1)).records  # it is in no ISR any more
    assert isinstance(change, BrokerChanged)
    it.cluster, it.memory = it.cluster.after([change]), died.memory.after(change)
    assert it.memory.shutdown_offsets == {}
    assert (it.cluster.brokers[1].in_controlled_shutdown, 1 in it.cluster.active) == (True, False)
    *_, anew = decide(it.cluster, BrokerRegisters(1, 6_000, clean=False)).records
    assert isinstance(anew, BrokerRegistered)
    it.cluster, it.memory = it.cluster.after([anew]), it.memory.after(anew)
    assert it.hears(1, 6_000, now_ms=10_100, epoch=6_000)[0] == [fenced(1, False)]
    assert 1 in it.cluster.active


def test_only_the_next_incarnation_ends_a_controlled_shutdown() -> None:
    it = controller()
    it.hears(1, wants_shutdown=True)
    for change in (fenced(1), fenced(1, False)):
        it.cluster = it.cluster.after([change])
        assert not it.cluster.is_active(1)
    assert it.cluster.after([BrokerRegistered(1, 7, fenced=False)]).is_active(1)


def test_c18_who_wants_to_be_fenced() -> None:
    it = controller()
    records, reply = it.hears(2, wants_fence=True)
    assert records[-1] == fenced(2) and (reply.is_fenced, reply.should_shut_down) == (True, False)
    records, reply = it.hears(3, wants_fence=True, wants_shutdown=True)
    assert records[-1] == fenced(3) and (reply.is_fenced, reply.should_shut_down) == (True, True)


def test_c19_and_c20_who_has_not_caught_up_and_who_is_another() -> None:
    it = controller()
    it.cluster = it.cluster.after([BrokerRegistered(1, 100)])
    it.memory = msgspec.structs.replace(it.memory, registered_at={1: 10})
    records, reply = it.hears(1, 9)
    assert (records, reply.is_caught_up, reply.is_fenced) == ([], False, True)
    records, reply = it.hears(1, 50, wants_fence=True)
    assert (records, reply.is_caught_up, reply.is_fenced) == ([], True, True)
    assert it.hears(1, 10)[0][0] == fenced(1, False)
    assert it.hears(2, epoch=7) == (["stale_broker_epoch"], None)
    assert it.hears(9, epoch=7) == (["stale_broker_epoch"], None)
    assert {(2, 7), (9, 7)} <= it.memory.contacts.keys()  # and its own contact stays
    gone = look(it.cluster, HeartbeatTable({(2, 7): 0.0}), 9_001)
    assert (gone.fenced, gone.memory.contacts) == (None, {})


@pytest.mark.parametrize("release", [*HIGHEST_LEVELS])
def test_c28_the_same_incarnation_again(release: tuple[int, int]) -> None:
    it = controller(Levels(release, HIGHEST_LEVELS[release]))
    (record,) = decide(it.cluster, BrokerRegisters(1, 777, clean=False, again=True)).records
    epoch = 100 if release >= (3, 9) else 777
    assert isinstance(record, BrokerRegistered)
    assert record == BrokerRegistered(1, epoch, fenced=release <= (3, 6))
    assert it.memory.after(record).offsets == {1: -1}


FEATURES = {"metadata.version": (7, 33), "eligible.leader.replicas.version": (0, 1)}
WHO = Registering(4, "i", ("d4",), FEATURES, "c")
KNOWN = KnownRegistrations("c", {1: "one", 2: "two"}, {"metadata.version": 23})


def refused(it: Controller, wanted: Registering, known: KnownRegistrations = KNOWN, now_ms: float = 0.0) -> str:
    return registration_error(it.cluster, it.memory, wanted, known, now_ms).name


def test_c29_and_c30_why_a_registration_is_refused() -> None:
    it = controller()
    it.cluster = it.cluster.after([BrokerRegistered(2, 200, fenced=False, directories=("d2",))])
    change = msgspec.structs.replace
    it.hears(1, now_ms=1_000.0)
    other = Registering(1, "other", ("d1",), FEATURES, "c")
    assert refused(it, other, now_ms=10_000.0) == "duplicate_broker_registration"
    assert refused(it, change(other, incarnation="one"), now_ms=10_000.0) == "none"
    assert refused(it, other, now_ms=10_001.0) == "none"
    assert refused(it, WHO) == "none"
    assert refused(it, change(WHO, cluster_id="elsewhere")) == "inconsistent_cluster_id"
    for directories in ((), (LOST,), ("d", "d"), ("d2",)):
        assert refused(it, change(WHO, directories=directories)) == "invalid_registration"
    assert refused(it, change(WHO, features={})) == "invalid_registration"
    assert refused(it, change(WHO, features={"metadata.version": (7, 22)})) == "unsupported_version"
    elr = change(KNOWN, features={"metadata.version": 23, "eligible.leader.replicas.version": 1})
    assert refused(it, change(WHO, features={"metadata.version": (7, 33)}), elr) == "unsupported_version"
    old = controller(Levels((3, 6), 14))
    assert refused(old, change(WHO, directories=(), features={"metadata.version": (1, 33)})) == "none"


def seen(it: Controller, *times: float) -> list[int | None]:
    found: list[int | None] = []
    for now_ms in times:
        passed = look(it.cluster, it.memory, now_ms)
        it.memory = passed.memory
        found.append(passed.fenced)
        if passed.fenced is not None:
            it.cluster = it.cluster.after(decide(it.cluster, BrokerSilent(passed.fenced)).records)
    return found


def test_j1_and_j2_sessions_from_4_0_on() -> None:
    it = controller()
    it.hears(1, now_ms=1_000)
    it.hears(2, now_ms=1_002)
    assert seen(it, 10_000, 10_001, 10_001, 10_003, 10_003) == [None, 1, None, 2, None]
    stopped = controller(partitions=[part(2, 1)])
    assert stopped.hears(1, now_ms=1_000, wants_shutdown=True)[0][-1] == fenced(1)
    again = Registering(1, "other", ("d1",), FEATURES, "c")
    assert refused(stopped, again, now_ms=1_000) == "duplicate_broker_registration"
    assert seen(stopped, 10_001) == [1]  # a second record that fences it
    assert refused(stopped, again, now_ms=10_001) == "none"


def test_j3_an_old_session_of_who_registered_anew_ends_in_silence() -> None:
    it = controller()
    it.hears(1, now_ms=0)
    it.cluster = it.cluster.after([BrokerRegistered(1, 999)])
    passed = look(it.cluster, it.memory, 9_001)
    assert (passed.fenced, passed.again_ms) == (None, 9_011)
    assert look(it.cluster, passed.memory, 9_011).again_ms == 9_011 + 1_125


def test_j5_and_j6_sessions_until_3_9() -> None:
    it = controller(Levels((3, 9), 21))
    for broker, at_ms in ((3, 1_000), (1, 1_500), (2, 2_000)):
        it.hears(broker, now_ms=at_ms)
    assert look(it.cluster, it.memory, 2_000).again_ms == 10_000
    assert seen(it, 10_000, 10_001, 11_500, 11_500) == [None, 3, 1, 2]
    assert look(it.cluster, it.memory, 11_500).again_ms is None
    it.hears(1, now_ms=12_000, wants_fence=True)
    assert it.memory.contacts == {}
    assert refused(it, Registering(1, "other", ("d",), FEATURES, "c"), now_ms=12_000) == "none"


def test_j7_how_far_all_others_have_read() -> None:
    it = controller()
    it.memory = HeartbeatTable(offsets={1: 50, 2: 60, 3: 60})
    assert lowest_offset(it.cluster, it.memory) == 50
    it.memory = left_at(left_at(it.memory, 1, 55), 1, 70)
    assert (lowest_offset(it.cluster, it.memory), it.memory.shutdown_offsets) == (60, {1: 55})
    nobody = made(Levels(), {}, [])
    assert lowest_offset(nobody, HeartbeatTable()) == float("inf")


def test_a_failover_gives_everybody_a_whole_session() -> None:
    for release, tracked in (((3, 9), {1, 2}), ((4, 0), {1, 2, 3}), ((4, 1), {1, 2})):
        it = controller(Levels(release, 21))
        it.cluster = it.cluster.after([fenced(3)])
        anew = HeartbeatTable(registered_at={3: 8}).after_failover(it.cluster, 500)
        assert {broker for broker, _ in anew.contacts} == tracked
        assert set(anew.contacts.values()) == {500}
        assert anew.registered_at == {3: 8}


def test_directories_that_fail_are_told_by_heartbeats() -> None:
    it = controller(partitions=[part(1, 2, D=["a", "x"])])
    it.cluster = it.cluster.after([BrokerRegistered(1, 100, fenced=False, directories=("a", "b"))])
    records, _ = it.hears(1, failed_directories=("a", "unknown"))
    assert records == [(0, {"l": 2, "I": [2]}), BrokerChanged(1, directories=("b",))]
    assert it.cluster.partition(TopicPartition("foo", 0)).leader == 2
    assert next_pace(it.cluster, it.memory, Heartbeat(1, 100, 9)) is BrokerControlState.UNFENCED


def test_j4_any_change_of_a_registration_holds_controlled_shutdowns_back() -> None:
    it = controller()
    for broker in (2, 3):
        it.hears(broker, 5_005)
    it.hears(1, 5_005, wants_shutdown=True)
    it.memory = it.memory.after(BrokerChanged(3, directories=("d",)))
    assert it.memory.offsets == {1: -1, 2: 5_005, 3: -1}
    assert it.hears(1, wants_shutdown=True)[0] == []
    it.hears(3, 5_005)
    assert it.hears(1, wants_shutdown=True)[0] == [fenced(1)]


def fenced_at(levels: Levels, last_ms: float, first_pass_ms: float) -> float:
    """When a broker is fenced that was heard last then; where passes come one after the other, from that one on."""
    it, now_ms = controller(levels), first_pass_ms
    it.hears(1, now_ms=last_ms)
    while (passed := look(it.cluster, it.memory, now_ms)).fenced is None:
        it.memory = passed.memory
        assert passed.again_ms is not None
        now_ms = passed.again_ms
    return now_ms


@pytest.mark.parametrize(("levels", "latest_ms"), [(Levels((3, 9), 21), 9_001), (Levels((4, 0), 25), 10_125)])
def test_j8_how_long_after_its_death_a_broker_is_fenced(levels: Levels, latest_ms: float) -> None:
    """It died at 0, and was heard at most one interval of heartbeats before."""
    times = [
        fenced_at(levels, last_ms, first_pass_ms)
        for last_ms in range(-2_000, 1, 250)
        for first_pass_ms in range(0, 1_125, 125)
    ]
    assert min(times) > 7_000 and max(times) <= latest_ms
    assert max(times) > latest_ms - 150


# L. Order in one event


def test_a_heartbeat_changes_the_state_then_what_fails_then_what_is_cordoned() -> None:
    it = Controller(made(Levels((4, 3), 30), {"foo": [part(1, 2, D=["a", "x"])]}, active(1, 2)))
    it.cluster = it.cluster.after([BrokerRegistered(1, 100, directories=("a", "b"))])
    records, _ = it.hears(1, 4_000, failed_directories=("a",), cordoned_directories=("b",))
    assert records == [
        fenced(1, False), (0, {"l": 2, "I": [2]}), BrokerChanged(1, directories=("b",)),
        BrokerChanged(1, cordoned=("b",)),
    ]  # fmt: skip
    assert it.hears(1, 4_000, cordoned_directories=("b",))[0] == []
    assert it.hears(1, 4_000)[0] == []  # nothing is said: they stay as they are
    assert it.hears(1, 4_000, cordoned_directories=())[0] == [BrokerChanged(1, cordoned=())]
    assert it.hears(2, cordoned_directories=())[0] == [BrokerChanged(2, cordoned=())]  # it had not said yet
    assert it.hears(2, cordoned_directories=())[0] == []


def test_before_4_3_nothing_is_cordoned() -> None:
    it = controller(Levels((4, 3), 29))
    assert it.hears(1, cordoned_directories=("d",))[0] == []

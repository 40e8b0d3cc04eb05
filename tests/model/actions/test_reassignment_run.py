"""A reassignment in batches, whatever comes in between: crashes, pauses, cancelling, going back, others' doings."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.actions.reassignment import (
    BeginMove,
    CommandRefused,
    OperatorDecided,
    ReassignmentPlan,
    ReplicaMove,
    Route,
    RunState,
    Seen,
    SetConfigs,
)
from model.actions.reassignment_run import MOST_ATTEMPTS, decide, outcome, started
from model.cluster.ids import TopicPartition
from tests.model.actions.simulated_cluster import SimulatedCluster

P0, P1, P2 = (TopicPartition("orders", number) for number in range(3))
MOVES = (
    ReplicaMove("orders", 0, (1, 2), (2, 3)),
    ReplicaMove("orders", 1, (2, 1), (1, 2)),
    ReplicaMove("orders", 2, (3, 1), (4, 5)),
)
HELD = {move.name: move.before for move in MOVES}
ROUTES: tuple[Route, ...] = ("zookeeper", "admin")


def a_run(route: Route = "zookeeper", ends: Sequence[int] = (2, 3), rate: int | None = None) -> RunState:
    return started(
        ReassignmentPlan(
            source="zk://a", plan="plan.json", begun_ms=1, route=route, moves=MOVES, ends=tuple(ends), rate=rate
        )
    )


def to_the_end(state: RunState, cluster: SimulatedCluster) -> RunState:
    """Everybody does what is asked; what moves is done as soon as the run waits for it."""
    for _ in range(200):
        decision = decide(state, Seen(cluster.look(state)))
        state = decision.state
        assert not decision.is_stuck, decision.said
        assert state.phase == "running" or not cluster.moving, "it ends, or takes the throttle off, while replicas move"
        if state.phase == "ended":
            return state
        if decision.command is not None:
            cluster.obey(decision.command)
        elif not decision.is_soon:
            for name in list(cluster.moving):
                cluster.finish(name)
    raise AssertionError(f"it does not end: {state}")


@pytest.mark.parametrize("route", ROUTES)
def test_one_batch_after_the_other(route: Route) -> None:
    cluster, state = SimulatedCluster(route, dict(HELD)), a_run(route)
    first = decide(state, Seen(cluster.look(state)))
    assert isinstance(first.command, BeginMove)
    assert first.command.goals == {P0: (2, 3), P1: (1, 2)}
    cluster.obey(first.command)
    waiting = decide(first.state, Seen(cluster.look(first.state)))
    assert waiting.command is None
    done = 1 if route == "admin" else 0  # where only the order changes there is nothing to wait for
    assert waiting.said == (
        f"batch 1 of 2: {done} of 2 done, {done} of 3 partitions in all; orders-0 waits for broker 3 to be in sync"
    )
    for name in (P0, P1):
        cluster.finish(name)
    after = to_the_end(waiting.state, cluster)
    assert cluster.replicas == {move.name: move.after for move in MOVES}
    assert outcome(after) == "3 partitions: all as planned"


def test_the_throttle_is_set_before_and_what_was_there_before_comes_back() -> None:
    cluster = SimulatedCluster("admin", dict(HELD))
    cluster.configs["brokers/1"] = {"leader.replication.throttled.rate": "7", "other": "stays"}
    before = {"brokers/1": dict(cluster.configs["brokers/1"])}
    state = a_run("admin", rate=1000)
    first = decide(state, Seen(cluster.look(state)))
    assert isinstance(first.command, SetConfigs)
    cluster.obey(first.command)
    assert cluster.configs["topics/orders"] == {
        "leader.replication.throttled.replicas": "0:1,0:2,2:3,2:1",
        "follower.replication.throttled.replicas": "0:3,2:4,2:5",
    }
    assert cluster.configs["brokers/5"] == {
        "leader.replication.throttled.rate": "1000",
        "follower.replication.throttled.rate": "1000",
    }
    to_the_end(first.state, cluster)
    assert {entity: config for entity, config in cluster.configs.items() if config} == before


def test_a_throttle_that_somebody_else_changed_meanwhile_is_left_to_them() -> None:
    cluster, state = SimulatedCluster("admin", dict(HELD)), a_run("admin", rate=1000)
    first = decide(state, Seen(cluster.look(state)))
    assert first.command is not None
    cluster.obey(first.command)
    second = decide(first.state, Seen(cluster.look(first.state)))
    assert second.state.is_throttled
    cluster.configs["brokers/5"]["leader.replication.throttled.rate"] = "5000"
    to_the_end(second.state, cluster)
    left = {entity: config for entity, config in cluster.configs.items() if config}
    assert left == {"brokers/5": {"leader.replication.throttled.rate": "5000"}}


def test_a_higher_throttle_replaces_the_lower_and_both_are_known_at_the_end() -> None:
    cluster, state = SimulatedCluster("admin", dict(HELD)), a_run("admin", rate=1000)
    first = decide(state, Seen(cluster.look(state)))
    assert first.command is not None
    cluster.obey(first.command)
    raised = decide(first.state, OperatorDecided("throttle", 9000))
    second = decide(raised.state, Seen(cluster.look(raised.state)))
    assert second.command == SetConfigs(
        {
            f"brokers/{broker}": dict.fromkeys(
                ("leader.replication.throttled.rate", "follower.replication.throttled.rate"), "9000"
            )
            for broker in (1, 2, 3, 4, 5)
        }
    )
    to_the_end(raised.state, cluster)  # as if the second command had not come through
    assert not any(cluster.configs.values())


def test_going_back_restores_the_order_of_replicas_too() -> None:
    cluster = SimulatedCluster("zookeeper", dict(HELD))
    done = to_the_end(a_run(rate=5), cluster)
    back = to_the_end(decide(done, OperatorDecided("roll-back")).state, cluster)
    assert cluster.replicas == HELD
    assert outcome(back) == "3 partitions: all as they were"
    assert not any(cluster.configs.values())


@pytest.mark.parametrize(
    ("route", "after"), [("admin", {**HELD, P1: (1, 2)}), ("zookeeper", {**HELD, P0: (2, 3), P1: (1, 2)})]
)
def test_cancelling_takes_back_what_is_under_way_where_it_can(
    route: Route, after: dict[TopicPartition, object]
) -> None:
    cluster, state = SimulatedCluster(route, dict(HELD)), a_run(route)
    first = decide(state, Seen(cluster.look(state)))
    assert first.command is not None
    cluster.obey(first.command)
    end = to_the_end(decide(first.state, OperatorDecided("cancel")).state, cluster)
    assert cluster.replicas == after
    assert outcome(end) == "stopped in batch 1 of 2: what was done stays, rollback undoes it"


def test_nothing_new_begins_while_it_is_paused() -> None:
    cluster, state = SimulatedCluster("admin", dict(HELD)), a_run("admin")
    paused = decide(state, OperatorDecided("pause")).state
    assert decide(paused, Seen(cluster.look(paused))).command is None
    on = decide(paused, OperatorDecided("go")).state
    assert isinstance(decide(on, Seen(cluster.look(on))).command, BeginMove)


def test_what_somebody_else_moved_is_left_alone_and_told() -> None:
    cluster = SimulatedCluster("admin", {**HELD, P0: (7, 8)})
    end = to_the_end(a_run("admin"), cluster)
    assert cluster.replicas == {P0: (7, 8), P1: (1, 2), P2: (4, 5)}
    assert outcome(end) == "3 partitions: all as planned, but for orders-0, which somebody else changed"


def test_a_dead_broker_is_waited_for_and_the_others_begin() -> None:
    cluster = SimulatedCluster("admin", dict(HELD), alive=frozenset({1, 2, 4, 5}))
    state = a_run("admin")
    decision = decide(state, Seen(cluster.look(state)))
    assert isinstance(decision.command, BeginMove)
    assert decision.command.goals == {P1: (1, 2)}
    cluster.obey(decision.command)
    cluster.finish(P1)
    waiting = decide(decision.state, Seen(cluster.look(decision.state)))
    assert waiting.command is None
    assert waiting.said.endswith("broker 3 must come back first: nothing can be copied there")


def test_a_reassignment_of_somebody_elses_is_waited_for() -> None:
    cluster = SimulatedCluster("zookeeper", {**HELD, TopicPartition("other", 0): (1,)})
    cluster.moving[TopicPartition("other", 0)] = ((1,), (2,))
    state = a_run()
    decision = decide(state, Seen(cluster.look(state)))
    assert decision.command is None
    assert decision.said.endswith("waits for a reassignment that somebody else asked for")


def test_it_does_not_ask_for_ever() -> None:
    cluster, state = SimulatedCluster("admin", dict(HELD)), a_run("admin")
    for _ in range(MOST_ATTEMPTS):
        decision = decide(state, Seen(cluster.look(state)))
        assert decision.command is not None
        state = decide(decision.state, CommandRefused("not authorised")).state
    last = decide(state, Seen(cluster.look(state)))
    assert last.is_stuck
    assert last.said.endswith("asked 5 times in vain: not authorised")


def unthrottled(cluster: SimulatedCluster) -> set[str]:
    """Copies under way, as `PARTITION:BROKER`, that no throttle slows down."""
    slowed = cluster.configs.get("topics/orders", {}).get("follower.replication.throttled.replicas", "").split(",")
    copies = {f"{name.partition}:{broker}" for name, (old, new) in cluster.moving.items() for broker in {*new} - {*old}}
    return copies - {*slowed}


WISHES = st.sampled_from(["go", "pause", "cancel", "roll-back", "throttle", "crash", "lose", "finish", "step", "step"])


@settings(max_examples=300)
@example("zookeeper", (2, 3), None, [("step", P0), ("roll-back", P0), ("cancel", P0), ("step", P0)], "cancel")
@example("zookeeper", (2, 3), 1000, [("step", P0)] * 3 + [("roll-back", P0), ("step", P0)], "roll-back")
@example("admin", (2, 3), 1000, [("step", P0), ("step", P0), ("step", P0), ("roll-back", P0)], "cancel")
@given(
    route=st.sampled_from(ROUTES),
    ends=st.sampled_from([(3,), (1, 3), (2, 3), (1, 2, 3)]),
    rate=st.sampled_from([None, 1000]),
    happens=st.lists(st.tuples(WISHES, st.sampled_from([P0, P1, P2])), max_size=40),
    last=st.sampled_from(["go", "cancel", "roll-back"]),
)
def test_whatever_happens_partitions_end_at_the_target_or_exactly_as_they_were(
    route: Route, ends: tuple[int, ...], rate: int | None, happens: list[tuple[str, TopicPartition]], last: str
) -> None:
    cluster = SimulatedCluster(route, dict(HELD))
    cluster.configs["brokers/2"] = {"follower.replication.throttled.rate": "7"}
    kept = state = a_run(route, ends, rate)
    for what, name in happens:
        match what:
            case "step" | "lose":
                decision = decide(state, Seen(cluster.look(state)))
                kept = state = decision.state  # the journal is written before the deed
                if decision.command is not None and what == "step":
                    cluster.obey(decision.command)
                assert rate is None or not unthrottled(cluster)
            case "crash":
                state = msgspec.json.decode(msgspec.json.encode(kept), type=RunState)
            case "finish":
                cluster.finish(name)
            case _:
                kept = state = decide(state, OperatorDecided(what, 2000)).state  # pyright: ignore[reportArgumentType]
    state = msgspec.structs.replace(state, attempts=0)
    state = to_the_end(decide(state, OperatorDecided(last)).state, cluster)  # pyright: ignore[reportArgumentType]
    assert not cluster.moving
    for move in MOVES:
        assert cluster.replicas[move.name] in (move.before, move.after)
    if last == "roll-back":
        assert cluster.replicas == HELD
    elif last == "go" and state.wish == "go" and not state.is_back:
        assert cluster.replicas == {move.name: move.after for move in MOVES}
    left = {entity: config for entity, config in cluster.configs.items() if config}
    assert left == {"brokers/2": {"follower.replication.throttled.rate": "7"}}

"""What a drill says of a broker's death is what happens when a real broker is killed, of each release.

Every partition's leader, leader epoch, ISR and state version, of every topic there is.
"""

from __future__ import annotations

import time

import msgspec
import pytest

from model.cluster.cluster_image import ClusterImage
from model.cluster.snapshot_format import SnapshotDocument
from model.cluster.snapshot_image import image_of
from model.controller.generations import generation_of
from model.drills.drill import run, usual
from model.drills.scenario import Act, Deed, of_acts
from tests.conformance.our_view import snapshot_of
from tests.harness.kafka import SESSION_TIMEOUT_MS, Cluster
from tests.harness.waiting import eventually
from tests.harness.zookeeper import NO_CONTROLLER
from tests.thorough import the_rest_when_asked

pytestmark = pytest.mark.conformance

SETTLE_TIMEOUT_S = 60
REST_S = 1.5
States = dict[str, tuple[int, int, tuple[int, ...], int]]
"""Partition → leader, leader epoch, ISR, version of the state znode."""


def image(cluster: Cluster) -> ClusterImage:
    """The cluster as `kdrill snapshot` saves it."""
    return image_of(msgspec.convert(snapshot_of(cluster.source_url), SnapshotDocument, str_keys=True))


def states(image: ClusterImage) -> States:
    return {
        f"{topic.name}-{partition}": (leader, int(topic.leader_epoch[row]), isr, int(topic.version[row]))
        for topic in image.topics.values()
        for row, (partition, _, leader, isr) in enumerate(topic.rows())
    }


def predicted(before: ClusterImage, *acts: Act) -> States:
    scenario = of_acts(acts)
    drill = run(
        before, scenario, msgspec.structs.replace(usual(before, scenario), session_timeout_ms=SESSION_TIMEOUT_MS)
    )
    assert drill.at_rest
    return states(drill.after)


def dies(*brokers: int) -> Act:
    return Act(Deed.KILL, brokers)


def stops(*brokers: int) -> Act:
    return Act(Deed.STOP, brokers)


def starts(*brokers: int) -> Act:
    return Act(Deed.START, brokers)


def assert_comes_true(cluster: Cluster, prediction: States, *, racing: bool = False) -> None:
    """`racing`: how often states were written, and so leader epochs, is open."""
    deadline = time.monotonic() + SETTLE_TIMEOUT_S
    told = _led_and_in_sync if racing else _whole
    expected = told(prediction)
    while (found := told(states(image(cluster)))) != expected and time.monotonic() < deadline:
        await_change(cluster)
    differing = {name: (expected[name], found.get(name)) for name in expected if found.get(name) != expected[name]}
    assert differing == {}
    assert found == expected


def _whole(states: States) -> dict[str, object]:
    return dict(states)


def _led_and_in_sync(states: States) -> dict[str, object]:
    return {name: (leader, isr) for name, (leader, _, isr, _) in states.items()}


def stopping_races(cluster: Cluster) -> bool:
    """Whether a leader may take a broker that shuts down into the ISR again, before it is gone: until 3.3."""
    return not generation_of(cluster.kafka.release.version).forms.refuses_offline_members


def await_change(cluster: Cluster) -> None:
    """Until some state is another, or for a while: `kdrill snapshot` is a process, dear to be asked all the time."""
    before, deadline = cluster.states(), time.monotonic() + REST_S
    while cluster.states() == before and time.monotonic() < deadline:
        time.sleep(0.05)


def await_in_sync(cluster: Cluster) -> None:
    """Until every replica of every partition that lives is in sync again, and somebody controls."""

    def in_sync() -> bool:
        living = cluster.registered()
        return cluster.controller() != NO_CONTROLLER and all(
            living.intersection(replicas) <= set(cluster.state(topic, partition).get("isr", ()))
            for topic in cluster.children("/brokers/topics")
            for partition, replicas in cluster.replicas(topic).items()
        )

    eventually(in_sync, "all replicas to be in sync", SETTLE_TIMEOUT_S)


def await_rest(cluster: Cluster) -> None:
    """Until nothing changes for a while."""

    def at_rest() -> bool:
        before = cluster.states()
        time.sleep(REST_S)
        return cluster.states() == before

    eventually(at_rest, "the cluster to be at rest", SETTLE_TIMEOUT_S)


@pytest.fixture
def topics(cluster: Cluster) -> None:
    """Topics of one, two and three replicas, led by every broker; one may elect leaders that are not in sync."""
    if "drill-three" not in cluster.children("/brokers/topics"):
        cluster.create(
            "drill-three",
            {0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2], 3: [1, 3, 2], 4: [2, 1, 3]},
            min_insync_replicas="2",
        )
        cluster.create("drill-two", {0: [1, 2], 1: [2, 3], 2: [3, 1], 3: [2, 1]})
        cluster.create("drill-unclean", {0: [1, 2], 1: [2, 3], 2: [3, 1]}, unclean_leader_election_enable="true")
        cluster.create("drill-one", {0: [1], 1: [2], 2: [3]})
        eventually(lambda: all(cluster.state("drill-one", number) for number in range(3)), "the topics to be led")
    await_in_sync(cluster)


@pytest.mark.usefixtures("topics")
@pytest.mark.parametrize("killed", the_rest_when_asked([1, 2, 3]))
def test_one_broker_after_the_other_is_killed(cluster: Cluster, killed: int) -> None:
    before = image(cluster)
    prediction = predicted(before, dies(killed))
    assert prediction != states(before)
    with cluster.killed(killed):
        assert_comes_true(cluster, prediction)


@pytest.mark.usefixtures("topics")
def test_the_controllers_broker_is_killed(cluster: Cluster) -> None:
    controller = cluster.controller()
    prediction = predicted(image(cluster), dies(controller))
    with cluster.killed(controller):
        assert_comes_true(cluster, prediction)
        assert cluster.controller() != controller


@pytest.mark.usefixtures("topics")
@pytest.mark.parametrize("second_is", ["the controller", "another broker"])
def test_another_one_is_killed_while_the_first_is_down(cluster: Cluster, second_is: str) -> None:
    """The last replicas in sync die, and where it is allowed somebody leads who was not in sync."""
    controller = cluster.controller()
    first, second = sorted(set(cluster.brokers) - {controller})
    if second_is == "the controller":
        second = controller
    with cluster.killed(first):
        await_rest(cluster)
        prediction = predicted(image(cluster), dies(second))
        with cluster.killed(second):
            assert_comes_true(cluster, prediction)


@pytest.mark.usefixtures("topics")
def test_a_broker_that_is_dead_starts(cluster: Cluster) -> None:
    """Its replicas come back into the ISRs, also where they were out of them before the drill."""
    killed = max(set(cluster.brokers) - {cluster.controller()})
    with cluster.killed(killed):
        await_rest(cluster)
        before = image(cluster)
        prediction = predicted(before, starts(killed))
        assert prediction != states(before)
    assert_comes_true(cluster, prediction)


@pytest.mark.usefixtures("topics")
@pytest.mark.parametrize("who", ["the controller", "another broker"])
def test_a_broker_stops_and_starts_again(cluster: Cluster, who: str) -> None:
    controller = cluster.controller()
    stopped = controller if who == "the controller" else min(set(cluster.brokers) - {controller})
    before = image(cluster)
    down, up = predicted(before, stops(stopped)), predicted(before, stops(stopped), starts(stopped))
    with cluster.stopped(stopped):
        assert_comes_true(cluster, down, racing=stopping_races(cluster))
    assert_comes_true(cluster, up, racing=stopping_races(cluster))


@pytest.mark.usefixtures("topics")
def test_one_dies_while_another_is_down_and_both_start(cluster: Cluster) -> None:
    first, second = sorted(set(cluster.brokers) - {cluster.controller()})
    before = image(cluster)
    down = predicted(before, stops(first), dies(second))
    up = predicted(before, stops(first), dies(second), starts(second), starts(first))
    with cluster.stopped(first):
        await_rest(cluster)
        with cluster.killed(second):
            assert_comes_true(cluster, down, racing=stopping_races(cluster))
        await_rest(cluster)
    assert_comes_true(cluster, up, racing=stopping_races(cluster))

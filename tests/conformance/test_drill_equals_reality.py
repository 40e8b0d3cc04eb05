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
from model.drills.drill import DEFAULT, run
from model.drills.scenario import of_brokers
from tests.conformance.kafka.brokers import NO_CONTROLLER, SESSION_TIMEOUT_MS, Cluster, until
from tests.conformance.our_view import snapshot_of

pytestmark = pytest.mark.conformance

SETTLE_TIMEOUT_S = 60
REST_S = 1.5
ASSUMPTIONS = msgspec.structs.replace(DEFAULT, session_timeout_ms=SESSION_TIMEOUT_MS)

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


def predicted(before: ClusterImage, killed: int) -> States:
    drill = run(before, of_brokers([killed]), ASSUMPTIONS)
    assert drill.at_rest
    return states(drill.after)


def assert_comes_true(cluster: Cluster, prediction: States) -> None:
    deadline = time.monotonic() + SETTLE_TIMEOUT_S
    while (found := states(image(cluster))) != prediction and time.monotonic() < deadline:
        await_change(cluster)
    differing = {
        name: (prediction.get(name), found.get(name)) for name in prediction if found.get(name) != prediction[name]
    }
    assert differing == {}
    assert found == prediction


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

    until(in_sync, "all replicas to be in sync", SETTLE_TIMEOUT_S)


def await_rest(cluster: Cluster) -> None:
    """Until nothing changes for a while."""

    def at_rest() -> bool:
        before = cluster.states()
        time.sleep(REST_S)
        return cluster.states() == before

    until(at_rest, "the cluster to be at rest", SETTLE_TIMEOUT_S)


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
        until(lambda: all(cluster.state("drill-one", number) for number in range(3)), "the topics to be led")
    await_in_sync(cluster)


@pytest.mark.usefixtures("topics")
@pytest.mark.parametrize("killed", [1, 2, 3])
def test_one_broker_after_the_other_is_killed(cluster: Cluster, killed: int) -> None:
    before = image(cluster)
    prediction = predicted(before, killed)
    assert prediction != states(before)
    with cluster.killed(killed):
        assert_comes_true(cluster, prediction)


@pytest.mark.usefixtures("topics")
def test_the_controllers_broker_is_killed(cluster: Cluster) -> None:
    controller = cluster.controller()
    prediction = predicted(image(cluster), controller)
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
        prediction = predicted(image(cluster), second)
        with cluster.killed(second):
            assert_comes_true(cluster, prediction)

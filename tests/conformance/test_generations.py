"""Our controllers of each generation, and the real ones: after every step of one history, the same znodes.

KDRILL_MORE_RELEASES=0.10.2.2,2.3.1 compares with more releases than the other tests run, two minutes each.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest

from model.cluster.ids import TopicPartition
from model.controller.generations import generation_of
from model.controller.steps.topics import TOPIC_IDS_FROM
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.releases import RELEASES, Release, install, install_or_skip
from tests.conformance.kafka.ruled import Both
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance

NO_SHRINKING = "replica.lag.time.max.ms=600000\n"
"""Leaders of that time write ISRs when they please; here only brokers that come and go change them."""


MORE = [version for version in os.environ.get("KDRILL_MORE_RELEASES", "").split(",") if version]


@pytest.fixture(scope="module", params=[*RELEASES, *MORE])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    release: str = request.param
    kafka = install_or_skip(release) if release in RELEASES else install(_release(release))
    zookeeper: EmbeddedZooKeeper = request.getfixturevalue("zookeeper_server")
    folder = tmp_path_factory.mktemp(f"generation-{release}-")
    chroot = f"{zookeeper.address}/generation-{release}"
    with Cluster(kafka, chroot, folder, in_turn=True, settings=NO_SHRINKING) as cluster:
        yield Both(cluster, release)
    shutil.rmtree(folder)


def _release(version: str) -> Release:
    """A release that only this test knows."""
    scala = "2.11" if version.startswith("0.") else "2.12"
    artifacts = (f"org.apache.kafka:kafka_{scala}:{version}", "org.slf4j:slf4j-log4j12:1.7.25")
    return replace(RELEASES["1.1.1"], version=version, artifacts=artifacts)


def test_a_leader_dies_and_comes_back(both: Both) -> None:
    both.create("t", {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)})
    both.kill(3)
    both.start(3)
    both.elect_preferred("t", 0, 1, 2)


def test_a_broker_shuts_down_and_comes_back(both: Both) -> None:
    both.create("shut", {0: (2, 3, 1), 1: (3, 2, 1), 2: (2,)})
    both.stop(2)
    both.start(2)
    both.elect_preferred("shut", 0)


def test_partitions_are_added(both: Both) -> None:
    both.create("grown", {0: (1, 2)})
    both.add_partitions("grown", {0: (1, 2), 1: (2, 3), 2: (3, 1)})


def test_replicas_move(both: Both) -> None:
    both.create("moved", {0: (1, 2), 1: (3, 1)})
    both.reassign("moved", 0, (3, 2))
    both.reassign("moved", 0, (2, 3))
    both.reassign("moved", 0, (2,))
    both.reassign("moved", 0, (1, 2))
    both.reassign("moved", 0, (3, 1, 2))
    both.reassign("moved", 1, (3, 1))


def test_a_dead_target_ends_a_move_or_is_waited_for(both: Both) -> None:
    both.create("stalled", {0: (1,)})
    both.stop(3)
    both.reassign("stalled", 0, (1, 3))
    both.start(3)


def test_the_last_in_sync_dies_and_comes_back(both: Both) -> None:
    both.create("one", {0: (3,), 1: (2, 3)})
    both.stop(2)
    both.kill(3)
    both.start(2)
    both.start(3)


def test_topics_say_whether_unclean_elections_are_allowed(both: Both) -> None:
    both.create("clean", {0: (2, 3)}, config={"unclean.leader.election.enable": "false"})
    both.create("unclean", {0: (2, 3)}, config={"unclean.leader.election.enable": "true"})
    both.stop(2)
    both.kill(3)
    both.start(2)
    both.start(3)


def test_topics_are_deleted_once_all_their_brokers_are_there(both: Both) -> None:
    both.create("gone", {0: (1, 2), 1: (2, 3)})
    both.delete("gone")
    both.create("late", {0: (1, 2), 1: (2, 3)})
    both.stop(3)
    both.delete("late")
    both.start(3)


def test_the_controller_dies(both: Both) -> None:
    both.create("led", {0: (1, 2, 3), 1: (2, 1, 3), 2: (3, 2, 1), 3: (1,)})
    both.kill(1)
    both.start(1)


def test_the_controller_is_deposed(both: Both) -> None:
    if both.release.startswith("0.8"):
        pytest.skip(
            "if another broker is quick, an 0.8 controller sees its znode changed and not deleted, and rules on"
        )
    both.depose()
    both.create("after", {0: (1, 2)})


def test_brokers_refuse_a_topic_whose_id_an_old_tool_took_once_the_controller_changes(both: Both) -> None:
    """KAFKA-14190: the next controller gives the topic another id, and what brokers have is of the one before."""
    if not has_topic_ids(both.release):
        pytest.skip("topics have no ids")
    both.create("lost", {0: (1, 2)})
    both.add_partitions("lost", {0: (1, 2), 1: (2, 3)})
    both.virtual.world.run_until(both.virtual.world.now_ms + 1)  # another time, another id
    both.depose()
    both.create("taken-over", {0: (1,)})  # whose turn comes when the next controller has taken over
    both.reassign("lost", 0, (1, 3))
    stuck = both.elect_preferred("lost", 0).topics["lost"]
    assert stuck is not None
    assert stuck.adding == {"0": [3]}
    refusal = "does not match the topic ID for partition lost-0"
    assert eventually(lambda: refusal in both.real.brokers[1].log, "broker 1 to refuse")
    assert both.virtual.nodes[1].broker.held[TopicPartition("lost", 0)].assignment.adding == ()


def has_topic_ids(release: str) -> bool:
    return generation_of(release).forms.topic_version >= TOPIC_IDS_FROM

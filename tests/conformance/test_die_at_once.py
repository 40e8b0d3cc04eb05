"""Two real brokers vanish in one moment: who stays in the ISRs, and who leads when they are back, is what a drill says.

Brokers 4 and 5, for 5 goes before 4 in every Scala from Kafka 1.1 on.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.releases import install_or_skip
from tests.conformance.test_drill_equals_reality import (
    assert_comes_true,
    await_in_sync,
    await_rest,
    dies,
    image,
    predicted,
    starts,
)
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance

LAST_OF_THEM = {"0.8.2.2": {4, 5}, "1.1.1": {4}, "3.9.1": {4}}
"""Who is the last in the ISR of partitions that only brokers 4 and 5 have; in 0.8, each partition has its own order."""


@pytest.fixture(scope="module", params=list(LAST_OF_THEM))
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Brokers 3, 4 and 5, of which 3 is the controller."""
    kafka = install_or_skip(request.param)
    zookeeper: EmbeddedZooKeeper = request.getfixturevalue("zookeeper_server")
    folder = tmp_path_factory.mktemp(f"pair-{request.param}-")
    with Cluster(kafka, f"{zookeeper.address}/pair-{request.param}", folder, first=3, in_turn=True) as cluster:
        yield cluster
    shutil.rmtree(folder)


def test_two_die_at_once_and_come_back_one_after_the_other(pair: Cluster) -> None:
    config = {"unclean.leader.election.enable": "false"}
    pair.create("two", {number: [4, 5] if number % 2 else [5, 4] for number in range(8)}, **config)
    pair.create("three", {0: [3, 4, 5], 1: [4, 5, 3], 2: [5, 4, 3]}, **config)
    eventually(lambda: len(pair.states()) == 11 and all(pair.states().values()), "the topics to be led")
    await_in_sync(pair)
    before = image(pair)
    dead = predicted(before, dies(4, 5))
    back = predicted(before, dies(4, 5), starts(5), starts(4))
    assert {isr[0] for name, (_, _, isr, _) in dead.items() if name.startswith("two-")} == LAST_OF_THEM[
        pair.kafka.release.version
    ]
    for number in (4, 5):
        pair.brokers[number].kill()
    pair.miss(4, 5)
    assert_comes_true(pair, dead)
    for number in (5, 4):
        pair.brokers[number].start()
        pair.await_serving(number)
        await_rest(pair)
    assert_comes_true(pair, back)

"""Connections to ZooKeeper that break, sessions that end, processes that hang: nothing is missed, no zombie writes."""

from __future__ import annotations

import pytest

from model.controller import events_and_commands
from model.hosts.virtual import journal
from model.hosts.virtual.journal import znode_writes
from model.hosts.virtual.scheduled_events import LOST, ON_TIME, ZOOKEEPER, MessageDelivery, SentMessage
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.znodes.topics import TopicAssignment
from model.zookeeper import Create, Delete
from tests.harness.virtual_cluster import LONG_MS, cluster_of, create_topic, records, state


def writers_of_states(cluster: VirtualCluster, since: int) -> set[int]:
    """Who wrote partition states with success."""
    return {
        record.by
        for record in records(cluster, journal.Transaction, since)
        for write in znode_writes(record)
        if write.path.endswith("/state") and write.error == "NONE"
    }


def test_requests_of_a_question_share_the_time_of_one() -> None:
    """Twelve states to write, three at a time, 2 ms each: 8 ms from the first to the last."""
    cluster = cluster_of(0, 1, in_flight=3, zookeeper_write_ms=2)
    mark = len(cluster.journal)
    create_topic(cluster, "t", *[(1,)] * 12)
    at_ms = [
        record.at_ms
        for record in records(cluster, journal.Transaction, mark)
        if any(write.path.endswith("/state") for write in znode_writes(record))
    ]
    assert [time - at_ms[0] for time in at_ms] == [0, 0, 0, 2, 2, 2, 4, 4, 4, 6, 6, 6]


def test_what_happened_during_a_cut_is_noticed_after_it() -> None:
    cluster = cluster_of(0, 1, 2)
    cluster.cut(0, ZOOKEEPER)
    cluster.run_until(cluster.now_ms + 1_000)
    cluster.write(Delete("/controller"))
    cluster.run_until(cluster.now_ms + 1_000)
    assert set(cluster.controllers) & {1, 2}
    assert 0 in cluster.controllers
    cluster.mend(0, ZOOKEEPER)
    assert cluster.run_until_quiet(LONG_MS)
    assert len(cluster.controllers) == 1
    assert cluster.controllers != (0,)
    assert not [record for record in records(cluster, journal.SessionEnded) if record.broker == 0]


@pytest.mark.parametrize("lost", range(0, 60, 3))
def test_any_one_message_of_an_election_may_get_lost(lost: int) -> None:
    """The connection breaks, and what it lost is asked again."""
    first = 10**9

    def unlucky(passage: SentMessage) -> MessageDelivery:
        return LOST if passage.number == first + lost else ON_TIME

    cluster = cluster_of(0, 1, 2, network=unlucky)
    create_topic(cluster, "t", (0, 1, 2))
    cluster.crash(0)
    cluster.expire(0)
    first = max(record.exchange for record in records(cluster, journal.RequestSent)) + 1
    assert cluster.run_until_quiet(LONG_MS)
    assert len(cluster.controllers) == 1
    assert state(cluster, "t").leader in (1, 2)
    assert set(state(cluster, "t").isr) == {1, 2}


def test_a_controller_that_hangs_too_long_writes_nothing_when_it_goes_on() -> None:
    cluster = cluster_of(0, 1, 2, session_timeout_ms=6_000)
    create_topic(cluster, "t", (1, 2))
    cluster.tell(0, events_and_commands.ControlledShutdownRequested(request=1, broker=1))
    cluster.pause(0)
    assert cluster.run_until_quiet(LONG_MS)
    assert {0} < set(cluster.controllers)
    mark = len(cluster.journal)
    cluster.resume(0)
    assert cluster.run_until_quiet(LONG_MS)
    assert 0 not in writers_of_states(cluster, mark)
    assert cluster.controllers in ((1,), (2,))
    resigned = next(records(cluster, journal.ControllerResigned, mark))
    assert (resigned.broker, resigned.epoch) == (0, 1)


def test_a_short_pause_keeps_the_session_and_what_came_meanwhile_is_done() -> None:
    cluster = cluster_of(0, 1, 2, session_timeout_ms=6_000)
    cluster.pause(1)
    create_topic_now(cluster)
    cluster.run_until(cluster.now_ms + 3_000)
    assert cluster.process(1).broker.metadata == {}
    cluster.resume(1)
    assert cluster.run_until_quiet(LONG_MS)
    assert len(cluster.process(1).broker.metadata) == 1
    assert not list(records(cluster, journal.SessionEnded))


def create_topic_now(cluster: VirtualCluster) -> None:
    payload = TopicAssignment(partitions={0: (2, 0)}, topic_id="t" * 22, version=3)
    cluster.write(Create("/brokers/topics/t", payload.to_bytes()))


def test_a_session_that_ends_under_a_living_broker_is_followed_by_another() -> None:
    cluster = cluster_of(0, 1)
    epoch = cluster.process(1).broker.epoch
    cluster.expire(1)
    assert cluster.run_until_quiet(LONG_MS)
    assert cluster.process(1).broker.epoch > epoch
    assert cluster.process(0).controller.context.live[1].epoch == cluster.process(1).broker.epoch

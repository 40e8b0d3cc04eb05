"""What controllers tell brokers: in order, again and again while nobody answers, no more once nobody is there."""

from __future__ import annotations

from model.controller.events_and_commands import LeaderAndIsrRequest, UpdateMetadataRequest
from model.hosts.virtual import journal
from model.hosts.virtual.scheduled_events import LOST, ON_TIME, MessageDelivery, SentMessage
from tests.harness.virtual_cluster import LONG_MS, boot, cluster_of, create_topic, records, state


def test_one_request_of_a_broker_is_on_its_way_at_a_time_and_they_stay_in_order() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (1, 2), (2, 1))
    for receiver in (0, 1, 2):
        exchanges = [
            (type(record), record.exchange)
            for record in cluster.journal
            if isinstance(record, journal.RequestSent | journal.RequestAnswered) and record.receiver == receiver
        ]
        sent, answered = exchanges[::2], exchanges[1::2]
        assert {kind for kind, _ in sent} == {journal.RequestSent}
        assert [number for _, number in sent] == [number for _, number in answered]
        assert [number for _, number in sent] == sorted(number for _, number in sent)


def test_what_gets_lost_is_sent_again_after_the_back_off() -> None:
    lost: list[int] = []

    def unlucky(passage: SentMessage) -> MessageDelivery:
        if (passage.source, passage.target) == (0, 1) and len(lost) < 2 and armed:
            lost.append(passage.number)
            return LOST
        return ON_TIME

    armed = False
    cluster = cluster_of(0, 1, network=unlucky, retry_backoff_ms=100)
    armed, mark = True, len(cluster.journal)
    create_topic(cluster, "t", (1,))
    sent = [record for record in records(cluster, journal.RequestSent, mark) if record.receiver == 1]
    assert [sent[number].exchange for number in range(3)] == [sent[0].exchange] * 3
    assert [sent[number].at_ms - sent[0].at_ms for number in range(3)] == [0, 100, 200]
    assert [type(record.request) for record in sent[2:]] == [LeaderAndIsrRequest, UpdateMetadataRequest]


def test_requests_wait_for_a_link_and_go_out_when_it_is_mended() -> None:
    cluster = cluster_of(0, 1, 2)
    cluster.cut(0, 1)
    create_topic(cluster, "t", (1, 2))
    assert not cluster.process(1).broker.metadata
    assert state(cluster, "t").leader == 1
    cluster.mend(0, 1)
    assert cluster.run_until_quiet(LONG_MS)
    assert len(cluster.process(1).broker.metadata) == 1


def test_requests_to_a_broker_that_is_gone_are_dropped() -> None:
    cluster = cluster_of(0, 1, 2)
    cluster.crash(1)
    create_topic(cluster, "t", (2, 1))
    dropped = list(records(cluster, journal.RequestsDropped))
    assert [(record.sender, record.receiver) for record in dropped] == [(0, 1)]
    assert len(dropped[0].exchanges) == 2
    mark = len(cluster.journal)
    boot(cluster, 1)
    assert not {record.exchange for record in records(cluster, journal.RequestSent, mark)} & set(dropped[0].exchanges)


def test_a_broker_that_is_back_before_anybody_noticed_refuses_what_was_meant_for_its_life_before() -> None:
    cluster = cluster_of(0, 1, 2)
    cluster.pause(0)
    cluster.crash(1)
    cluster.expire(1)
    boot(cluster, 1)
    cluster.cut(0, 1)
    cluster.resume(0)
    cluster.run_until(cluster.now_ms + 10)
    cluster.mend(0, 1)
    assert cluster.run_until_quiet(LONG_MS)
    assert cluster.process(1).broker.live_brokers == (0, 1, 2)


def test_a_follower_that_cannot_fetch_leaves_the_isr_and_comes_back() -> None:
    cluster = cluster_of(0, 1, 2, replica_lag_ms=3_000)
    create_topic(cluster, "t", (1, 2))
    cluster.cut(1, 2)
    cut_ms = cluster.now_ms
    cluster.run_until(cut_ms + 2_999)
    assert state(cluster, "t").isr == (1, 2)
    assert cluster.run_until_quiet(LONG_MS)
    assert (state(cluster, "t").isr, state(cluster, "t").leader_epoch) == ((1,), 0)
    cluster.mend(1, 2)
    assert cluster.run_until_quiet(LONG_MS)
    assert (state(cluster, "t").isr, state(cluster, "t").leader_epoch) == ((1, 2), 0)

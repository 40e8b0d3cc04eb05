"""Batches and statuses become moments: nothing told is lost, and nothing old survives what replaces it."""

from __future__ import annotations

import threading

import msgspec
import pytest

from model.cluster.ids import TopicPartition
from model.cluster.records import (
    BrokerLost,
    BrokerRegistered,
    ClusterIdentified,
    ConfigChanged,
    GenerationRecognised,
    LogEndsRead,
    OffsetCommitted,
    TopicAssigned,
)
from model.sources.feed import GROWN_S, Feed, Moment
from model.sources.source import FactBatch, SourceStatus

FIRST = FactBatch(
    (
        BrokerRegistered(broker=1),
        BrokerRegistered(broker=2),
        TopicAssigned(topic="t", replicas={0: (1,)}),
        ClusterIdentified(cluster_id="old"),
        GenerationRecognised(generation="3.x"),
    ),
    zxid=10,
    time_ms=1_000,
    listing=True,
)


class Heard(Feed):
    """A feed and all that it published."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self.now_s = 0.0
        super().__init__("here", self.moments.append, clock_s=lambda: self.now_s)


def test_a_listing_makes_a_whole_image() -> None:
    feed = Heard()
    feed.take(FIRST)
    (moment,) = feed.moments
    assert moment is feed.moment
    assert (moment.seq, moment.relisted) == (1, True)
    assert set(moment.image.brokers) == {1, 2}
    provenance = moment.image.provenance
    assert (provenance.source, provenance.zxid, provenance.time_ms, provenance.complete) == ("here", 10, 1_000, True)
    assert [change.kind for change in moment.feed] == ["loaded"]


def test_before_a_listing_nothing_is_whole() -> None:
    feed = Heard()
    feed.take(FactBatch((BrokerRegistered(broker=1),), 3, 500))
    assert not feed.moment.image.provenance.complete
    assert (feed.moment.feed, feed.moment.findings.found) == ((), ())


def test_what_is_only_heard_of_late_did_not_happen_now() -> None:
    feed = Heard()
    feed.take(FIRST)
    settings = ConfigChanged(entity="topics/t", config={"retention.ms": "1"})
    feed.take(FactBatch((settings,), -1, 2_000, is_known_late=True))
    assert feed.moment.image.configs == {"topics/t": {"retention.ms": "1"}}
    assert [change.kind for change in feed.moment.feed] == ["loaded"]
    feed.take(FactBatch((ConfigChanged(entity="topics/t", config={}),), -1, 3_000))
    assert [change.kind for change in feed.moment.feed] == ["loaded", "config-changed"]


def in_parts(*parts: FactBatch) -> list[FactBatch]:
    """One listing, part by part."""
    last = len(parts)
    return [msgspec.structs.replace(each, part=n, listing=n == last) for n, each in enumerate(parts, 1)]


def test_the_first_listing_is_seen_as_it_arrives_and_is_whole_at_its_end() -> None:
    feed = Heard()
    topics = [
        FactBatch((TopicAssigned(topic=name, replicas={0: (9,)}),), number, number) for number, name in enumerate("ab")
    ]
    for batch in in_parts(*topics, FactBatch((BrokerRegistered(broker=1),), 5, 5)):
        feed.now_s += GROWN_S
        feed.take(batch)
    seen = [(set(one.image.topics), one.image.provenance.complete, one.relisted) for one in feed.moments]
    assert seen == [({"a"}, False, False), ({"a", "b"}, False, False), ({"a", "b"}, True, True)]
    assert [len(one.findings.found) > 0 for one in feed.moments] == [False, False, True]
    assert feed.moments[2].image.topics["a"] is feed.moments[0].image.topics["a"]
    assert [change.kind for change in feed.moment.feed] == ["loaded"]


def test_a_first_listing_is_shown_ever_more_seldom() -> None:
    feed = Heard()
    for batch in in_parts(*(FactBatch((BrokerRegistered(broker=number),), 1, 1) for number in range(1000))):
        feed.now_s += 0.0625  # a power of two: sums are exact
        feed.take(batch)
    shown = [len(one.image.brokers) for one in feed.moments]
    assert shown[:4] == [1, 9, 17, 25]
    assert shown[-1] == 1000
    assert len(shown) < 30


def test_what_is_known_stands_until_everything_has_been_read_again() -> None:
    feed = Heard()
    feed.take(FIRST)
    first, second = in_parts(
        FactBatch((BrokerRegistered(broker=2),), 20, 2_000), FactBatch((BrokerRegistered(broker=3),), 21, 3)
    )
    feed.take(first)
    assert [set(one.image.brokers) for one in feed.moments] == [{1, 2}]
    feed.take(FactBatch((LogEndsRead(ends={TopicPartition("t", 0): 7}),), -1, 2_500))  # brokers tell between the parts
    feed.take(second)
    assert [set(one.image.brokers) for one in feed.moments] == [{1, 2}, {1, 2}, {2, 3}]
    assert feed.moment.image.topics == {}
    assert feed.moment.image.log_ends == {TopicPartition("t", 0): 7}


def test_a_listing_that_breaks_off_leaves_nothing_to_the_next_one() -> None:
    feed = Heard()
    (begun, _) = in_parts(FactBatch((BrokerRegistered(broker=1),), 1, 1), FactBatch((), 1, 1))
    feed.take(begun)
    for batch in in_parts(
        FactBatch((BrokerRegistered(broker=2),), 2, 2), FactBatch((BrokerRegistered(broker=3),), 2, 2)
    ):
        feed.take(batch)
    assert set(feed.moment.image.brokers) == {2, 3}


def test_what_follows_is_laid_over_it_and_told() -> None:
    feed = Heard()
    feed.take(FIRST)
    feed.take(FactBatch((BrokerLost(broker=2),), 12, 2_000, touched=("/brokers/ids/2", "/hbase/x")))
    moment = feed.moment
    assert set(moment.image.brokers) == {1}
    assert [change.kind for change in moment.feed] == ["loaded", "broker-lost"]
    assert (moment.touched, moment.relisted) == (("/brokers/ids/2", "/hbase/x"), False)
    assert moment.image.topics is feed.moments[0].image.topics
    assert moment.image.provenance.complete


def test_the_zxid_never_goes_back_but_for_another_cluster() -> None:
    feed = Heard()
    feed.take(FIRST)
    feed.take(FactBatch((BrokerLost(broker=2),), -1, 2_000))
    assert feed.moment.image.provenance.zxid == 10
    feed.take(FactBatch((BrokerRegistered(broker=7),), 4, 3_000, listing=True, fresh=True))
    assert feed.moment.image.provenance.zxid == 4


def test_another_listing_removes_what_it_does_not_mention() -> None:
    feed = Heard()
    feed.take(FIRST)
    feed.take(FactBatch((BrokerRegistered(broker=2),), 20, 2_000, listing=True))
    assert set(feed.moment.image.brokers) == {2}
    assert feed.moment.image.topics == {}
    assert {change.kind for change in feed.moment.feed} >= {"loaded", "broker-lost", "topic-removed"}


def test_another_cluster_leaves_nothing_of_the_old_one_but_the_feed() -> None:
    feed = Heard()
    feed.take(FIRST)
    feed.take(FactBatch((BrokerRegistered(broker=9),), 2, 2_000, listing=True, fresh=True))
    image = feed.moment.image
    assert (set(image.brokers), image.topics, image.cluster_id, image.generation) == ({9}, {}, None, "unknown")
    assert [change.kind for change in feed.moment.feed] == ["loaded", "loaded"]


def test_a_status_keeps_the_image_and_an_image_keeps_the_status() -> None:
    feed = Heard()
    stale = SourceStatus("stale", since_ms=5, reason="gone")
    feed.take(FIRST)
    feed.report(stale)
    assert feed.moment.image is feed.moments[0].image
    assert (feed.moment.touched, feed.moment.relisted) == ((), False)
    feed.take(FactBatch((BrokerLost(broker=2),), 12, 2_000))
    assert feed.moment.status is stale
    assert [moment.seq for moment in feed.moments] == [1, 2, 3]


def test_statuses_reported_while_batches_are_taken_are_all_published() -> None:
    feed = Heard()
    feed.take(FIRST)
    statuses = [SourceStatus("live", verified_ms=number) for number in range(300)]

    def report() -> None:
        for status in statuses:
            feed.report(status)

    reporting = threading.Thread(target=report)
    reporting.start()
    for number in range(300):
        feed.take(FactBatch((OffsetCommitted(group="g", partition=TopicPartition("t", 0), offset=number),), number, 1))
    reporting.join()
    assert [moment.seq for moment in feed.moments] == list(range(1, 602))
    assert feed.moment.status is statuses[-1]
    assert feed.moment.image.groups["g"].offsets == {TopicPartition("t", 0): 299}


def test_the_feed_of_changes_ends_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.sources.feed.FEED_LENGTH", 5)
    feed = Heard()
    feed.take(FIRST)
    for number in range(3):
        feed.take(FactBatch((BrokerLost(broker=1),), number, number))
        feed.take(FactBatch((BrokerRegistered(broker=1),), number, number))
    lost_and_found = ["broker-registered", "broker-lost"]
    assert [change.kind for change in feed.moment.feed] == [*lost_and_found, *lost_and_found, "broker-registered"]

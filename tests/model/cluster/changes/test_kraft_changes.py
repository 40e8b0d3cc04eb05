"""What happens to brokers of KRaft: registered, fenced, unfenced, stopped in order, and who tells of it."""

from __future__ import annotations

import msgspec

from model.cluster.changes import changes_between
from model.cluster.image_parts import KraftMetadata
from model.cluster.records import BrokerFenced, BrokerLost, BrokerRegistered, MetadataDescribed
from tests.model.cluster.build import NOW_MS, image, state, written
from tests.model.cluster.changes.test_changes import FENCED, KRAFT, step, told


def test_a_fenced_broker_is_still_registered() -> None:
    changes = told(BrokerFenced(broker=1), written("orders", state(0, 2, (2,), epoch=1)), before=KRAFT)
    assert changes == [
        (
            "broker-fenced",
            "broker 1",
            "b1 fenced: it is registered and serves nothing (no heartbeats, or a controlled shutdown)",
        ),
        ("leader-moved", "orders-0", "leader 1 -> 2, epoch 0 -> 1, clean, because b1 was fenced"),
        ("isr-shrunk", "orders-0", "isr 1,2 -> 2: 1 left, because b1 was fenced"),
    ]
    assert (FENCED.brokers.keys(), FENCED.fenced.keys()) == ({2}, {1})
    assert told(BrokerRegistered(broker=1, fenced=False), before=FENCED) == [
        ("broker-unfenced", "broker 1", "b1 unfenced: it serves")
    ]
    assert told(BrokerLost(broker=1), before=FENCED) == [
        ("broker-lost", "broker 1", "b1 gone: its registration was removed")
    ]


def test_a_broker_that_registers_for_the_first_time_is_no_error() -> None:
    (change,) = step(BrokerFenced(broker=3), before=KRAFT)
    assert (change.kind, change.severity) == ("broker-registered", "info")
    assert change.text == "b3 registered, and fenced until it serves"


def test_an_orderly_end_is_called_one() -> None:
    begins = BrokerRegistered(broker=1, fenced=False, in_controlled_shutdown=True)
    stopping = image(begins, base=KRAFT)
    assert told(begins, before=KRAFT) == [("broker-changed", "broker 1", "b1 began its controlled shutdown")]
    assert told(BrokerFenced(broker=1), before=stopping) == [
        ("broker-fenced", "broker 1", "b1 fenced after its controlled shutdown: it is registered and serves nothing")
    ]


def test_that_it_becomes_known_who_is_fenced_is_no_news() -> None:
    untold = image(BrokerRegistered(broker=1), base=KRAFT)
    assert told(BrokerRegistered(broker=1, fenced=False), before=untold) == []


def test_that_the_metadata_log_tells_more_of_a_broker_is_no_news() -> None:
    untold = image(BrokerRegistered(broker=1), base=KRAFT)
    told_by_log = BrokerRegistered(broker=1, epoch=13, time_ms=NOW_MS, endpoints=("A://h1:9092", "B://h1:9093"))
    known = image(told_by_log, base=untold)
    assert step(told_by_log, before=untold) == ()
    assert step(BrokerRegistered(broker=1), before=known) == ()
    again = msgspec.structs.replace(told_by_log, epoch=14)
    assert [one.kind for one in step(again, before=known)] == ["broker-bounced"]


def test_that_somebody_else_tells_of_fenced_brokers_is_no_news() -> None:
    """As before 4.0, where brokers that are polled do not, and the metadata log does."""
    polled = image(BrokerRegistered(broker=1), base=KRAFT)
    logged = (MetadataDescribed(metadata=KraftMetadata()), BrokerRegistered(broker=1, fenced=False, epoch=3))
    followed = image(*logged, BrokerFenced(broker=3, epoch=4), base=polled)
    assert changes_between(polled, followed) == changes_between(followed, polled) == ()
    (change,) = changes_between(followed, image(BrokerLost(broker=1), base=polled))
    assert change.text == "b1 gone: it is fenced, or its registration was removed"
    serving = image(*logged, BrokerRegistered(broker=3, fenced=False, epoch=4), base=polled)
    assert [change.kind for change in changes_between(polled, serving)] == ["broker-registered"]
    assert [change.kind for change in changes_between(serving, followed)] == ["broker-fenced"]


def test_where_nobody_tells_who_is_fenced_a_broker_may_be_either() -> None:
    untold = image(BrokerRegistered(broker=1), base=KRAFT)
    assert told(BrokerLost(broker=1), before=untold) == [
        ("broker-lost", "broker 1", "b1 gone: it is fenced, or its registration was removed")
    ]

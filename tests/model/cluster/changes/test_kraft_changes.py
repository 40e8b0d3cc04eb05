"""What happens to brokers of KRaft: registered, fenced, unfenced, stopped in order, and who tells of it."""

from __future__ import annotations

import msgspec

from model.cluster.records import BrokerFenced, BrokerLost, BrokerRegistered
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


def test_where_nobody_tells_who_is_fenced_a_broker_may_be_either() -> None:
    untold = image(BrokerRegistered(broker=1), base=KRAFT)
    assert told(BrokerLost(broker=1), before=untold) == [
        ("broker-lost", "broker 1", "b1 gone: it is fenced, or its registration was removed")
    ]

"""The broker list, dead brokers included, and one broker's facts."""

from dataclasses import replace

import msgspec

from model.cluster.cluster_image import EMPTY
from model.cluster.findings import Findings
from model.cluster.findings.check import Kind, finding
from model.cluster.image_parts import Quorum
from model.cluster.records import BrokerFenced, BrokerRegistered
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, rows_of, small_image
from tui.engine.cluster.brokers import broker_text, brokers_window
from tui.engine.cluster.queries import BrokerList, BrokerText
from tui.engine.listing import Memory
from tui.engine.rows import Window

MOMENT = moment_of(small_image())


def window(**asked: object) -> Window:
    query = msgspec.convert({"type": "BrokerList", **asked}, BrokerList)
    return brokers_window(MOMENT, query, NOW_MS, Memory())


def test_every_broker_has_its_counts():
    shown = window()
    assert [column.title for column in shown.columns] == [
        "id", "host", "rack", "lead", "repl", "under", "pref", "since", "epoch", "led/pref", "out", "endpoints",
    ]  # fmt: skip
    assert [row.rpartition(" | ")[0] for row in rows_of(shown)] == [
        "  | 1 | kfk-01:9092 | r1 | 1 | 3 | 0 | 1 | 4d | 101 | 20%/33% | 1",
        "  | 2 | kfk-02:9092 | r2 | 1 | 2 | 0 | 0 | 4d | 102 | 20%/0% | 0",
        "  | 3 | kfk-03:9092 | r3 | 1 | 2 | 1 | 0 | 4d | 103 | 20%/17% | 0",
        "* | 4 | kfk-04:9092 | r1 | 1 | 2 | 1 | 0 | 4d | 104 | 20%/17% | 0",
        "X | 5 | DOWN | - | 1 | 4 | 1 | 0 | - | - | 20%/33% | 2",
        "  | 6 | kfk-06:9092 | r3 | 0 | 2 | 0 | 0 | 4d | 106 | 0%/0% | 1",
    ]
    assert rows_of(shown)[0].endswith(" | PLAINTEXT://kfk-01:9092")


def test_brokers_are_sorted_and_filtered_by_any_column():
    assert keys_of(window(sort="replicas", reverse=True))[:2] == ["5", "1"]
    assert keys_of(window(filter="down")) == ["5"]
    assert keys_of(window(filter="rack:r1")) == ["1", "4"]
    assert keys_of(window(filter="kfk-06:9092")) == ["6"]
    assert keys_of(window(filter="state:controller")) == ["4"]
    assert keys_of(window(sort="out", reverse=True))[:3] == ["5", "1", "6"]
    assert keys_of(window(filter="share:0")) == ["6"]
    assert keys_of(window(filter="leaders:0 | age:none")) == ["5", "6"]


def test_what_is_known_of_a_dead_broker():
    text = broker_text(MOMENT, BrokerText(key="5", width=76), NOW_MS, Memory()).plain
    assert "state     DOWN" in text
    assert "leads     1, of them under-replicated 1" in text
    assert "share     leads 20.0% of the partitions, should lead 33.3%" in text
    assert "replicas  4, of them out of the ISR 2" in text


def test_a_fenced_broker_is_registered_and_serves_nothing():
    endpoint = "PLAINTEXT://kfk-05:9092"
    moment = moment_of(small_image(BrokerFenced(broker=5, endpoints=(endpoint,), rack="r2")))
    query = msgspec.convert({"type": "BrokerList", "filter": "state:fenced"}, BrokerList)
    shown = brokers_window(moment, query, NOW_MS, Memory())
    assert [row[:20] for row in rows_of(shown)] == ["X | 5 | fenced | r2 "]
    text = broker_text(moment, BrokerText(key="5", width=76), NOW_MS, Memory()).plain
    assert "state     fenced" in text
    assert "why       It is registered; the controllers hear no heartbeats of it" in text
    assert f"endpoints {endpoint}" in text


def test_a_controlled_shutdown_is_told_where_it_is_known():
    stopping = BrokerRegistered(broker=6, fenced=False, in_controlled_shutdown=True)
    query = BrokerText(key="6", width=76)
    assert (
        "state     up, in controlled shutdown"
        in broker_text(moment_of(small_image(stopping)), query, NOW_MS, Memory()).plain
    )


def test_what_is_known_of_the_controller():
    text = broker_text(MOMENT, BrokerText(key="4", width=76), NOW_MS, Memory()).plain
    assert "state     controller" in text
    assert "endpoints PLAINTEXT://kfk-04:9092" in text
    assert "since     2023-11-10 22:13:20Z, 4d ago" in text


def test_what_two_findings_ask_for_is_said_once():
    twice = [finding(Kind(name, "warn"), "broker 4", name, "why", "Plan a rebalance.") for name in ("leaders", "held")]
    other = finding(Kind("other", "warn"), "broker 4", "else", "why", "Look at it.")
    moment = replace(MOMENT, findings=Findings((*twice, other)))
    text = broker_text(moment, BrokerText(key="4", width=76), NOW_MS, Memory()).plain
    assert text.split("\n")[-7:] == [
        "",
        "warn      leaders",
        "warn      held",
        "          Plan a rebalance.",
        "",
        "warn      else",
        "          Look at it.",
    ]


def test_a_broker_that_is_not_there():
    answer = broker_text(MOMENT, BrokerText(key="77"), NOW_MS, Memory())
    assert answer.plain == "there is no such broker (any more)"


def test_a_cluster_without_brokers():
    shown = brokers_window(moment_of(EMPTY), BrokerList(), NOW_MS, Memory())
    assert (shown.total, shown.note) == (0, "no broker is registered, and no topic names one")


def test_a_broker_that_only_old_metadata_names_is_unconfirmed_from_then_on() -> None:
    query, memory = BrokerList(), Memory()
    known = msgspec.structs.replace(small_image(), quorum=Quorum(4, 3, 9))
    brokers_window(moment_of(known), query, NOW_MS, memory)
    lost = msgspec.structs.replace(known, quorum=Quorum(-1, 3, 9, unconfirmed=(2,)))
    shown = rows_of(brokers_window(moment_of(lost), query, NOW_MS, memory))
    assert [row.split(" | ")[:3] for row in shown][1] == ["?", "2", "unconfirmed"]
    text = broker_text(moment_of(lost), BrokerText(key="2", width=200), NOW_MS, Memory()).plain
    assert "Only old metadata names it" in text

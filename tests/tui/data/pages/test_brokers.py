"""The broker list, dead brokers included, and one broker's facts."""

from dataclasses import replace

import msgspec

from model.broker.settings.catalogue import kept_alone
from model.cluster.cluster_image import EMPTY
from model.cluster.findings import Findings
from model.cluster.findings.check import FindingKind, finding
from model.cluster.image_parts import LogDir, Quorum
from model.cluster.records import BrokerFenced, BrokerRegistered, ConfigChanged
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, rows_of, small_image, text_of
from tui.engine.cluster.brokers import broker_text, brokers_window
from tui.engine.cluster.queries import BrokerList, BrokerTextQuery
from tui.engine.listing import AnswerMemo
from tui.engine.rows import Window

MOMENT = moment_of(small_image())


def window(**asked: object) -> Window:
    query = msgspec.convert({"type": "BrokerList", **asked}, BrokerList)
    return brokers_window(MOMENT, query, NOW_MS, AnswerMemo())


def test_every_broker_has_its_counts():
    shown = window()
    assert [column.title for column in shown.columns] == [
        "id", "leaders/replicas", "lead", "repl", "in ISR", "out", "rack", "under", "pref", "disk", "led/pref", "since",
        "host", "epoch", "endpoints",
    ]  # fmt: skip
    assert [row.rpartition(" | ")[0] for row in rows_of(shown)] == [
        "  | 1 | ████▒▒▒│▒▒▒▒ | 1 | 3 | ████░░ | 1 | r1 | 0 | 1 | - | 20%/33% | 4d | kfk-01:9092 | 101",
        "  | 2 | ████▒▒▒▒ | 1 | 2 | ██████ | 0 | r2 | 0 | 0 | - | 20%/0% | 4d | kfk-02:9092 | 102",
        "  | 3 | ████▒▒▒▒ | 1 | 2 | ██████ | 0 | r3 | 1 | 0 | - | 20%/17% | 4d | kfk-03:9092 | 103",
        "★ | 4 | ████▒▒▒▒ | 1 | 2 | ██████ | 0 | r1 | 1 | 0 | - | 20%/17% | 4d | kfk-04:9092 | 104",
        "X | 5 | ████▒▒▒│▒▒▒▒▒▒▒▒ | 1 | 4 | DOWN | 2 | - | 1 | 0 | - | 20%/33% | - | - | -",
        "  | 6 | ▒▒▒▒▒▒▒▒ | 0 | 2 | ███░░░ | 1 | r3 | 0 | 0 | - | 0%/0% | 4d | kfk-06:9092 | 106",
    ]
    assert rows_of(shown)[0].endswith(" | PLAINTEXT://kfk-01:9092")


def test_bars_are_as_long_as_the_list_is_wide_and_the_verdict_is_beside_them():
    for width, size in ((34, 8), (50, 12), (80, 16), (150, 24)):
        shown = window(width=width)
        bars = [row.cells[1] for row in shown.rows]
        assert {sum(len(text) for text, _ in bar) for bar in bars} == {size} == {shown.columns[1].width}
        assert [text_of(row.cells[4]) for row in shown.rows if row.key == "5"] == ["DOWN"]
        assert any("│" in text for bar in bars for text, _ in bar) == (size >= 16), "in few cells it would hide them"


def test_of_disks_what_is_used_is_told_where_a_broker_told():
    folders = (
        LogDir("/a", total_bytes=100, usable_bytes=10),
        LogDir("/b", total_bytes=100, usable_bytes=14),
        LogDir("/c"),
    )
    whole = msgspec.structs.replace(small_image(), log_dirs={2: folders})
    rows = brokers_window(moment_of(whole), BrokerList(sort="disk", reverse=True), NOW_MS, AnswerMemo()).rows
    assert [text_of(row.cells[9]) for row in rows[:2]] == ["88%", "-"] and rows[0].cells[9][0][1] == "warn"


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
    text = broker_text(MOMENT, BrokerTextQuery(key="5", width=76), NOW_MS, AnswerMemo()).plain
    assert "state     DOWN" in text
    assert "leads     1, of them under-replicated 1" in text
    assert "share     leads 20.0% of the partitions, should lead 33.3%" in text
    assert "replicas  4, of them out of the ISR 2" in text


def test_a_fenced_broker_is_registered_and_serves_nothing():
    endpoint = "PLAINTEXT://kfk-05:9092"
    moment = moment_of(small_image(BrokerFenced(broker=5, endpoints=(endpoint,), rack="r2")))
    query = msgspec.convert({"type": "BrokerList", "filter": "state:fenced"}, BrokerList)
    shown = brokers_window(moment, query, NOW_MS, AnswerMemo())
    assert [text_of(row.cells[4]) for row in shown.rows] == ["fenced"] and shown.rows[0].mark == "X"
    text = broker_text(moment, BrokerTextQuery(key="5", width=76), NOW_MS, AnswerMemo()).plain
    assert "state     fenced" in text
    assert "why       It is registered; the controllers hear no heartbeats of it" in text
    assert f"endpoints {endpoint}" in text


def test_a_controlled_shutdown_is_told_where_it_is_known():
    stopping = BrokerRegistered(broker=6, fenced=False, in_controlled_shutdown=True)
    query = BrokerTextQuery(key="6", width=76)
    assert (
        "state     up, in controlled shutdown"
        in broker_text(moment_of(small_image(stopping)), query, NOW_MS, AnswerMemo()).plain
    )


def test_what_is_known_of_the_controller():
    text = broker_text(MOMENT, BrokerTextQuery(key="4", width=76), NOW_MS, AnswerMemo()).plain
    assert "state     controller" in text
    assert "endpoints PLAINTEXT://kfk-04:9092" in text
    assert "since     2023-11-10 22:13:20Z, 4d ago" in text


def test_what_two_findings_ask_for_is_said_once():
    twice = [
        finding(FindingKind(name, "warn", "OTHER"), "broker 4", name, "why", "Plan a rebalance.")
        for name in ("leaders", "held")
    ]
    other = finding(FindingKind("other", "warn", "OTHER"), "broker 4", "else", "why", "Look at it.")
    moment = replace(MOMENT, findings=Findings((*twice, other)))
    text = broker_text(moment, BrokerTextQuery(key="4", width=76), NOW_MS, AnswerMemo()).plain
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
    answer = broker_text(MOMENT, BrokerTextQuery(key="77"), NOW_MS, AnswerMemo())
    assert answer.plain == "there is no such broker (any more)"


def test_a_cluster_without_brokers():
    shown = brokers_window(moment_of(EMPTY), BrokerList(), NOW_MS, AnswerMemo())
    assert (shown.total, shown.note) == (0, "no broker is registered, and no topic names one")


def test_a_broker_that_only_old_metadata_names_is_unconfirmed_from_then_on() -> None:
    query, memory = BrokerList(), AnswerMemo()
    known = msgspec.structs.replace(small_image(), quorum=Quorum(4, 3, 9))
    brokers_window(moment_of(known), query, NOW_MS, memory)
    lost = msgspec.structs.replace(known, quorum=Quorum(-1, 3, 9, unconfirmed=(2,)))
    row = brokers_window(moment_of(lost), query, NOW_MS, memory).rows[1]
    assert (row.mark, text_of(row.cells[0]), text_of(row.cells[4])) == ("?", "2", "unconfirmed")
    text = broker_text(moment_of(lost), BrokerTextQuery(key="2", width=200), NOW_MS, AnswerMemo()).plain
    assert "Only old metadata names it" in text


def test_a_broker_tells_what_is_set_on_it_and_a_sandbox_what_is_kept_alone() -> None:
    image = small_image(
        ConfigChanged(entity="brokers/1", config={"num.io.threads": "5"}),
        ConfigChanged(entity="brokers/<default>", config={"log.retention.ms": "7", "listeners": "PLAINTEXT://:1"}),
    )
    said = broker_text(
        moment_of(image), BrokerTextQuery(key="1", width=120), NOW_MS, AnswerMemo(), kept=kept_alone
    ).plain
    assert "num.io.threads=5" in said and "listeners=PLAINTEXT://:1 log.retention.ms=7" in said
    for name in ("num.io.threads", "listeners"):
        assert f"{name}: the sandbox's brokers keep it and do not obey it" in said
    assert "log.retention.ms: " not in said

"""What is wrong, as a list and one by one; the header's and the overview's counts of it."""

from model.cluster.cluster_image import ClusterImage, Provenance
from model.cluster.findings.find import SEVERITY
from model.sources.feed import Moment
from model.sources.source import SourceStatus
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, rows_of, small_image
from tui.engine.cluster.briefs import WORDS, brief, shortened
from tui.engine.cluster.findings import finding_text, findings_window
from tui.engine.cluster.overview import header_facts
from tui.engine.cluster.queries import FindingList, FindingText
from tui.engine.listing import AnswerMemo

MOMENT = moment_of(small_image())


def test_the_worst_comes_first():
    shown = findings_window(MOMENT, FindingList(), NOW_MS, AnswerMemo())
    marks = [row.mark for row in shown.rows]
    assert marks == sorted(marks, key=["X", "!", ""].index)
    assert rows_of(shown)[0] == "X | OFFLINE | payments:3,7 | 2/3 | no live replica in sync: b5 down | 33s"


def test_every_kind_has_a_word_in_capitals_where_it_is_serious():
    assert all(word.isupper() == (SEVERITY[kind] != "info") and len(word) <= 11 for kind, word in WORDS.items())


def test_findings_are_told_in_few_words():
    told = {(one.kind, one.subject): brief(one, MOMENT) for one in MOMENT.findings.found}
    assert {f"{one.word} {subject}{one.which} {one.part}: {one.text}" for (_, subject), one in told.items()} >= {
        "UNDER-REPL orders:2-3 2/3: 2 of 3 in sync; out: b5 down",
        "AT MIN ISR orders:2-3 2/3: one loss stops writes; out: b5 down",
        "DOWN broker 5 : 4 replicas, 2 out of sync, leader of 1",
        "moving payments-0 1/3: being reassigned",
    }
    assert all(len(one.text) < 60 for one in told.values())


def test_a_name_that_is_no_broker_is_not_shortened():
    assert shortened("brokers 5, 6 (down) and broker 2 (up)") == "b5 b6 down and b2 up"
    assert shortened("the topic broker-5") == "the topic broker-5"


def test_keys_tell_findings_of_one_kind_about_one_subject_apart():
    keys = keys_of(findings_window(MOMENT, FindingList(), NOW_MS, AnswerMemo()))
    assert len(set(keys)) == len(keys)
    assert {"unowned-partition/group billing", "unowned-partition/group billing/2"} <= set(keys)


def test_one_finding_in_full():
    answer = finding_text(MOMENT, FindingText(key="offline/payments", width=200), NOW_MS)
    lines = answer.plain.splitlines()
    assert lines[0].startswith("CRIT      payments: 2 of 3 partitions offline")
    assert lines[2].startswith("why       Nobody can write to them")
    assert lines[3].startswith("what to do Bring broker 5 back.")
    assert "partitions 3,7 (2)" in lines
    assert finding_text(MOMENT, FindingText(key="x"), NOW_MS).plain == "this is resolved"


def test_the_header_counts():
    facts = header_facts(MOMENT, kind="DEMO")
    assert (facts.cluster, facts.source, facts.phase, facts.kind) == ("prod-eu1", "zk://kfk", "live", "DEMO")
    assert (facts.controller, facts.controller_epoch) == (4, 118)
    assert (facts.brokers_up, facts.brokers_down, facts.topics, facts.partitions) == (5, 1, 2, 6)
    assert (facts.errors, facts.warnings) == (1, 6)


def test_what_brokers_tell_does_not_make_an_image_of_zookeeper_younger():
    polled = ClusterImage(provenance=Provenance("zk://kfk", time_ms=NOW_MS, complete=True))
    lost = Moment(image=polled, status=SourceStatus("stale", verified_ms=NOW_MS - 8_000))
    assert header_facts(lost).image_time_ms == NOW_MS - 8_000
    assert header_facts(Moment(image=polled)).image_time_ms == NOW_MS, "no other proof"

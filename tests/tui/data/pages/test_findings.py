"""What is wrong, as a list and one by one; the header's and the overview's counts of it."""

import msgspec

from model.cluster.cluster_image import ClusterImage, Provenance
from model.cluster.image_parts import Quorum, QuorumReplica
from model.cluster.records import GenerationRecognised, QuorumDescribed
from model.sources.feed import Moment
from model.sources.source import SourceStatus
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, rows_of, small_image
from tui.engine.cluster.findings import finding_text, findings_window
from tui.engine.cluster.overview import header_facts, overview_text
from tui.engine.cluster.queries import FindingList, FindingText, OverviewText
from tui.engine.listing import Memory

MOMENT = moment_of(small_image())


def test_the_worst_comes_first():
    shown = findings_window(MOMENT, FindingList(), NOW_MS, Memory())
    marks = [row.mark for row in shown.rows]
    assert marks == sorted(marks, key=["X", "!", ""].index)
    assert rows_of(shown)[0].startswith("X | payments | 33s | 2 of 3 partitions offline")


def test_keys_tell_findings_of_one_kind_about_one_subject_apart():
    keys = keys_of(findings_window(MOMENT, FindingList(), NOW_MS, Memory()))
    assert len(set(keys)) == len(keys)
    assert {"unowned-partition/group billing", "unowned-partition/group billing/2"} <= set(keys)


def test_one_finding_in_full():
    answer = finding_text(MOMENT, FindingText(key="offline/payments", width=200), NOW_MS)
    lines = answer.plain.splitlines()
    assert lines[0].startswith("CRIT      payments: 2 of 3 partitions offline")
    assert lines[2].startswith("why       Nobody can write to them")
    assert lines[3].startswith("what to do Bring broker 5 back.")
    assert "partitions 3,7 (2)" in lines
    assert finding_text(MOMENT, FindingText(key="x"), NOW_MS).plain == "this is not so any more"


def test_the_header_counts():
    facts = header_facts(MOMENT, kind="DEMO")
    assert (facts.cluster, facts.source, facts.phase, facts.kind) == ("prod-eu1", "zk://kfk", "live", "DEMO")
    assert (facts.controller, facts.controller_epoch) == (4, 118)
    assert (facts.brokers_up, facts.brokers_down, facts.topics, facts.partitions) == (5, 1, 2, 6)
    assert (facts.errors, facts.warnings) == (1, 6)


def test_the_overview_counts_and_draws():
    assert overview_text(MOMENT, OverviewText(width=36)).plain.splitlines() == [
        "brokers        5 up  1 DOWN  3 racks",
        "topics         2   partitions 6",
        "offline        2  |XXXXX..........|",
        "under-repl     2  |!!!!!..........|",
        "off-prefer     1  |~~.............|",
        "moving         1  |++.............|",
    ]


def test_without_a_majority_of_voters_header_and_overview_count_only_brokers_that_answer():
    voters = tuple(map(QuorumReplica, (1, 2, 3)))
    lost = Quorum(-1, 7, 90, voters, silent=(2, 3), unconfirmed=(2, 3))
    moment = moment_of(small_image(GenerationRecognised(generation="kraft"), QuorumDescribed(quorum=lost)))
    facts = header_facts(moment)
    assert facts.quorum == "1 of 3 voters answers"
    assert (facts.brokers_up, facts.brokers_unconfirmed, facts.brokers_down) == (3, 2, 1)
    overview = overview_text(moment, OverviewText(width=60)).plain
    assert overview.startswith("brokers        3 up  1 DOWN  2 unconfirmed")
    led = msgspec.structs.replace(lost, leader=1, silent=(), unconfirmed=())
    assert header_facts(moment_of(small_image(QuorumDescribed(quorum=led)))).quorum == ""


def test_a_narrow_overview_has_no_bars():
    lines = overview_text(MOMENT, OverviewText(width=20)).plain.splitlines()
    assert lines[2] == "offline        2"


def test_nothing_is_counted_before_anything_was_read():
    answer = overview_text(moment_of(ClusterImage()), OverviewText(width=36))
    assert answer.plain == "nothing was read yet"


def test_what_brokers_tell_does_not_make_an_image_of_zookeeper_younger():
    polled = ClusterImage(provenance=Provenance("zk://kfk", time_ms=NOW_MS, complete=True))
    lost = Moment(image=polled, status=SourceStatus("stale", verified_ms=NOW_MS - 8_000))
    assert header_facts(lost).image_time_ms == NOW_MS - 8_000
    assert header_facts(Moment(image=polled)).image_time_ms == NOW_MS, "no other proof"

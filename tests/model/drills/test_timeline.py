"""Looking at a drill that was played: how long nobody led, what was so at a moment, how far it had come."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.drills.document import document_of
from model.drills.drill import DEFAULT, play, play_on, run
from model.drills.scenario import of_brokers
from model.drills.setup import ClusterSetup
from model.drills.timeline import DrillTimeline, Outage
from tests.model.drills.clusters import NOW_MS, T0, cluster, topic

IMAGE = cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1))
OTHER = TopicPartition("t", 1)


def test_percentiles_are_of_those_that_were_led_again() -> None:
    outages = [Outage(T0, 0, to_ms, leader=2) for to_ms in (10.0, 20.0, 30.0, 40.0)]
    timeline = DrillTimeline(IMAGE, (), (*outages, Outage(OTHER, 0, None)), 100, NOW_MS)
    assert [timeline.outage_percentile(percent) for percent in (25, 50, 99, 100)] == [10, 20, 40, 40]
    assert [outage.lasted_ms(100) for outage in timeline.outages] == [10, 20, 30, 40, 100]


def test_the_map_changes_when_the_state_is_written() -> None:
    drill = run(IMAGE, of_brokers([1]))
    end_ms = drill.timeline.end_ms
    moments = {at_ms: drill.timeline.image_at(at_ms) for at_ms in (-1, 0, 17_999, 18_000, end_ms)}
    assert [image.topics["t"].leader.tolist() for image in moments.values()] == [[1], [1], [1], [1], [2]]
    assert [sorted(image.brokers) for image in moments.values()] == [[1, 2, 3]] * 3 + [[2, 3]] * 2
    assert [image.controller.broker is None for image in moments.values()] == [False, False, False, True, False]
    assert moments[18_000].provenance.time_ms == NOW_MS + 18_000
    assert moments[17_999].topics["t"] is IMAGE.topics["t"]


def test_progress_is_told_and_a_drill_can_be_given_up() -> None:
    records = [record for number in range(400) for record in topic((1, 2), (1, 2), 1, name=f"t{number:03}")]
    stage = ClusterSetup(cluster([1, 2, 3], *records), DEFAULT)
    given_up = play_on(stage, of_brokers([1]))
    first, second = next(given_up), next(given_up)
    assert 0 < first.at_ms <= second.at_ms
    assert first.rows <= second.rows
    given_up.close()
    steps = play_on(stage, of_brokers([1]))
    told = [progress.at_ms for progress in steps]
    assert told == sorted(told)
    assert len(told) > 1


def test_what_makes_no_sense_is_refused_before_anything_is_played() -> None:
    with pytest.raises(ValueError, match="not alive here"):
        play(IMAGE, of_brokers([7]))


def test_a_document_holds_only_plain_values() -> None:
    document = document_of(run(IMAGE, of_brokers([1])), everything=True)
    assert document["partitions"]["t"]["0"]["outcome"] == "clean"
    assert document["summary"]["without_leader_ms"]["p50"] == document["partitions"]["t"]["0"]["without_leader_ms"][1]
    assert {row["what"] for row in document["timeline"]} >= {
        "broker-killed",
        "session-expired",
        "controller-moved",
        "state-written",
        "znode-written",
        "write-refused",
        "request-sent",
        "reasoned",
    }

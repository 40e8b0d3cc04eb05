"""A timeline as an operator reads it: like things that follow each other are one line, long lists are bounded."""

from __future__ import annotations

from model.drills.drill import run
from model.drills.scenario import of_brokers
from model.drills.sentences import steps_of
from tests.model.drills.clusters import cluster, topic


def test_the_death_of_a_leader() -> None:
    drill = run(cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1), controller=3), of_brokers([1]))
    lines = list(steps_of(drill.timeline.rows))
    assert [one.text for one in lines] == [
        "Broker 1 failed; ZooKeeper does not know yet",
        "the session of broker 1 expired",
        "b3: Broker 1 went: 1 replica offline.",
        "b3 wrote 1 partition state: t-0 v1 leader 1>2 isr 1,2,3>2,3 epoch 1",
        "b3: OfflinePartition elected leaders of 1 partition (first assigned replica that is online and in sync): "
        "t-0 to 2 (epoch 1, ISR 2,3).",
        "b3 sent LeaderAndIsr (1 partition) to brokers 2, 3; UpdateMetadata (1 partition) to brokers 2, 3",
    ]
    assert [one.at_ms for one in lines[:2]] == [0, 18_000]


def test_many_things_of_a_kind_are_counted() -> None:
    records = [record for number in range(30) for record in topic((1, 2), (1, 2), 1, name=f"t{number:02}")]
    drill = run(cluster([1, 2, 3], *records, controller=3), of_brokers([1]))
    lines = [one for one in steps_of(drill.timeline.rows) if "partition state" in one.text]
    assert [one.end - one.first for one in lines] == [30]
    assert lines[0].text.startswith("b3 wrote 30 partition states: t00-0 v1 leader 1>2")
    assert lines[0].text.endswith("+26 more")
    assert lines[0].until_ms > lines[0].at_ms
    assert sum(one.end - one.first for one in steps_of(drill.timeline.rows)) == len(drill.timeline.rows)


def test_the_death_of_the_controller_names_who_follows() -> None:
    drill = run(cluster([1, 2], *topic((1, 2), (1, 2), 1)), of_brokers([1]))
    texts = [one.text for one in steps_of(drill.timeline.rows)]
    assert "the session of broker 1 expired; broker 1 was the controller: nobody is now" in texts
    assert "broker 2 is the controller after broker 1, epoch 8" in texts
    assert "b2 created /controller" in texts

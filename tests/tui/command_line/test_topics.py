"""`kdrill topics` and `kdrill configs`: the lines of Kafka's tools, and what is chosen by their options."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from model.actions import Reset
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import KafkaGeneration, TopicPartition
from model.cluster.records import (
    ConfigChanged,
    GenerationRecognised,
    PartitionState,
    TopicAssigned,
    TopicDeletionRequested,
)
from tests.model.cluster.build import brokers, image, state, written
from tui.cli.act import offsets_in, reset_of
from tui.cli.described import PartitionFilter, chosen_topics, describe_lines, settings_in_order
from tui.cli.kafka_tools import checked, listed_settings
from tui.cli.main import main

ID = "5wl-7XzGQ32A06mabZqrmQ"
OLD = [
    "Topic:notes\tPartitionCount:1\tReplicationFactor:1\tConfigs:",
    "\tTopic: notes\tPartition: 0\tLeader: -1\tReplicas: 1\tIsr: ",
    "Topic:payments\tPartitionCount:2\tReplicationFactor:3\tConfigs:min.insync.replicas=2",
    "\tTopic: payments\tPartition: 0\tLeader: 2\tReplicas: 1,2,3\tIsr: 3,2",
    "\tTopic: payments\tPartition: 1\tLeader: none\tReplicas: 2,3,1\tIsr: ",
]
NEW = [
    "Topic: notes\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: ",
    "\tTopic: notes\tPartition: 0\tLeader: none\tReplicas: 1\tIsr: \tElr: N/A\tLastKnownElr: N/A",
    f"Topic: payments\tTopicId: {ID}\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=2",
    "\tTopic: payments\tPartition: 0\tLeader: 2\tReplicas: 1,2,3\tIsr: 3,2\tElr: N/A\tLastKnownElr: N/A",
    "\tTopic: payments\tPartition: 1\tLeader: none\tReplicas: 2,3,1\tIsr: \tElr: N/A\tLastKnownElr: N/A",
]


def cluster(generation: KafkaGeneration, *more: object) -> ClusterImage:
    """notes-0 has no leader, payments-0 an ISR of two, payments-1 no state yet."""
    return image(
        *brokers(2, 3),
        GenerationRecognised(generation=generation),
        TopicAssigned(topic="notes", replicas={0: (1,)}),
        written("notes", state(0, -1, [])),
        TopicAssigned(
            topic="payments",
            replicas={0: (1, 2, 3), 1: (2, 3, 1)},
            topic_id=None if generation in ("0.8", "0.9-1.x") else ID,
        ),
        written("payments", state(0, 2, [3, 2])),
        ConfigChanged(entity="topics/payments", config={"min.insync.replicas": "2"}),
        *more,  # pyright: ignore[reportArgumentType]
    )


def lines(image: ClusterImage, **shown: bool) -> list[str]:
    names = sorted(image.topics)
    return list(
        describe_lines(image, names, PartitionFilter(**shown), {name: settings_in_order(image, name) for name in names})
    )


@pytest.mark.parametrize(("generation", "expected"), [("0.8", OLD), ("0.9-1.x", OLD), ("3.x", NEW)])
def test_each_generation_is_told_as_its_tool_tells_it(generation: KafkaGeneration, expected: list[str]) -> None:
    assert lines(cluster(generation)) == expected


def test_a_kraft_cluster_knows_eligible_leader_replicas() -> None:
    def told(elr: tuple[int, ...] | None) -> str:
        lone = PartitionState(0, -1, 1, (), elr=elr, last_known_elr=elr)
        return lines(cluster("kraft", written("notes", lone)))[1].partition("\tIsr: ")[2]

    assert [told(elr) for elr in ((1,), (1, 2), (), None)] == [
        "\tElr: 1\tLastKnownElr: 1",
        "\tElr: 1,2\tLastKnownElr: 1,2",
        "\tElr: \tLastKnownElr: ",
        "\tElr: N/A\tLastKnownElr: N/A",  # as the tool prints where brokers do not tell
    ]


@pytest.mark.parametrize(
    ("option", "partitions"),
    [
        ("under_replicated", ["notes-0", "payments-0", "payments-1"]),
        ("unavailable", ["notes-0", "payments-1"]),
        ("under_min_isr", ["notes-0", "payments-1"]),
        ("at_min_isr", ["payments-0"]),
    ],
)
def test_options_choose_partitions(option: str, partitions: list[str]) -> None:
    told = sorted(line.split("\t") for line in lines(cluster("3.x"), **{option: True}))
    assert [
        f"{cells[1].removeprefix('Topic: ')}-{cells[2].removeprefix('Partition: ')}" for cells in told
    ] == partitions


def test_only_topics_with_settings_of_their_own() -> None:
    assert lines(cluster("0.8"), with_overrides=True) == [OLD[2]]


def test_marks_are_told_as_1_1_tells_them() -> None:
    marked = cluster("0.9-1.x", TopicDeletionRequested(topic="notes"))
    assert lines(marked)[0] == f"{OLD[0]}\tMarkedForDeletion:true"
    assert lines(marked, unavailable=True)[0] == f"{OLD[1]}\tMarkedForDeletion: true"


def test_names_expressions_and_internal_topics() -> None:
    seen = cluster("3.x", TopicAssigned(topic="__consumer_offsets", replicas={0: (2,)}))
    assert chosen_topics(seen, None, exclude_internal=True) == ["notes", "payments"]
    assert chosen_topics(seen, "no.*, payments") == ["notes", "payments"]
    assert chosen_topics(seen, "note", if_exists=True) == []
    with pytest.raises(click.ClickException, match="topic 'note' does not exist"):
        chosen_topics(seen, "note")
    with pytest.raises(click.ClickException, match="no regular expression"):
        chosen_topics(seen, "(")


def test_settings_are_typed_as_for_kafkas_tool() -> None:
    assert listed_settings(["a=1,b=[x,y]", "c="]) == {"a": "1", "b": "x,y", "c": ""}
    for wrong in ("a", "=1", "a b=1"):
        with pytest.raises(click.UsageError, match="name=value"):
            listed_settings([wrong])


@pytest.mark.parametrize(
    ("kind", "name", "value", "said"),
    [
        ("topics", "retention.ms", "abc", "takes a whole number"),
        ("topics", "cleanup.policy", "keep", "takes some of compact, delete"),
        ("topics", "retentoin.ms", "1", "did you mean retention.ms?"),
        ("topics", "compression.gzip.level", "1", ""),
        ("brokers", "log.retention.ms", "1", ""),
        ("brokers", "zookeeper.connect", "there", "is read at the start"),
        ("brokers", "leader.replication.throttled.rate", "5", ""),
    ],
)
def test_values_and_names_are_looked_at(kind: str, name: str, value: str, said: str) -> None:
    try:
        told = " ".join(checked(kind, {name: value}))
    except click.UsageError as error:
        told = str(error)
    assert said in told
    assert bool(said) == bool(told)


@pytest.mark.parametrize(
    ("how", "reset"),
    [
        ({"to_earliest": True, "shift_by": None}, Reset("to-earliest")),
        ({"shift_by": -3}, Reset("shift-by", -3)),
        ({"to_offset": 0}, Reset("to-offset", 0)),
        ({"to_datetime": "2026-11-20T12:00:00"}, Reset("to-time", 1_795_176_000_000)),
        ({"to_datetime": "2026-11-20T13:00:00+01:00"}, Reset("to-time", 1_795_176_000_000)),
        ({"by_duration": "P1DT2H3M4.5S"}, Reset("to-time", 10**12 - 93_784_500)),
    ],
)
def test_where_to_is_told_as_to_kafkas_tool(how: dict[str, object], reset: Reset) -> None:
    assert reset_of(how, 10**12) == reset


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"to_earliest": True, "to_latest": True},
        {"to_datetime": "soon"},
        {"by_duration": "P"},
        {"by_duration": "1h"},
    ],
)
def test_where_to_has_to_be_clear(how: dict[str, object]) -> None:
    with pytest.raises(click.UsageError):
        reset_of(how, 0)


def test_offsets_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    file.write_text("orders,0,12\n\norders,1,3\n")
    assert offsets_in(file) == {TopicPartition("orders", 0): 12, TopicPartition("orders", 1): 3}
    for text in ("orders,0\n", "orders,0,x\n"):
        file.write_text(text)
        with pytest.raises(click.ClickException, match="each line is topic,partition,offset"):
            offsets_in(file)
    with pytest.raises(click.ClickException, match="No such file"):
        offsets_in(tmp_path / "none")


def test_a_snapshot_is_described_and_nothing_is_done_to_it(
    snapshot_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(words)
        told = capfd.readouterr()
        return ended.value.code, told.out, told.err

    source = str(snapshot_file)
    code, out, said = run("topics", source, "describe", "--topic", "orders", "--under-replicated-partitions")
    assert (code, said) == (0, "")
    assert [line.split("\t")[2] for line in out.splitlines()] == ["Partition: 2", "Partition: 3"]
    settings = run("configs", "describe", source, "--topic", "orders")
    assert settings == (0, "Configs for topic 'orders' are min.insync.replicas=2\n", "")
    code, out, said = run("topics", source, "delete", "--topic", "orders", "--allow-writes", "--yes")
    assert (code, out) == (1, "")
    assert said.startswith("kdrill: ")
    assert "nothing can be done to it" in said

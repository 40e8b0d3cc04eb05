"""Plans of other tools, as each writes them, are read as the moves they ask for; all else is refused in one line."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import TopicPartition
from model.interchange.tool_files import election_text, read_election, read_plan
from tests.model.interchange.printed import printed
from tests.tui.hostile import HOSTILE

CLICKS = (TopicPartition("clicks", 0), TopicPartition("clicks", 1))
names = st.builds(TopicPartition, st.sampled_from(["orders", 'a"b', "line\nbreak", "\u202ebidi"]), st.integers(0, 9))
targets = st.dictionaries(
    names, st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True).map(tuple), min_size=1
)


def cruise_control(moves: dict[TopicPartition, tuple[int, ...]]) -> dict[str, Any]:
    """As OptimizationResult writes it; Gson adds a hash to a partition."""
    proposals = [
        {
            "topicPartition": {"hash": 0, "partition": name.partition, "topic": name.topic},
            "oldLeader": 1,
            "oldReplicas": [1, 2],
            "newReplicas": list(replicas),
        }
        for name, replicas in moves.items()
    ]
    return {"summary": {"numReplicaMovements": 1}, "proposals": proposals, "goalSummary": [], "version": 1}


@given(targets, st.booleans())
def test_cruise_controls_proposals_and_kafkas_file_ask_for_the_same(
    moves: dict[TopicPartition, tuple[int, ...]], is_spaced: bool
) -> None:
    rows = [{"topic": name.topic, "partition": name.partition, "replicas": to} for name, to in moves.items()]
    for document in (cruise_control(moves), {"version": 1, "partitions": rows}):
        text = json.dumps(document, indent=2 if is_spaced else None).encode()
        assert read_plan(b"\n" * is_spaced + text).targets == moves


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("reassign-generate-0.8.2.2", dict(zip(CLICKS, [(2, 1), (3, 2)], strict=True))),
        ("reassign-generate-1.1.1", dict(zip(CLICKS, [(1, 2), (2, 3)], strict=True))),
        ("reassign-execute-3.9.1", {CLICKS[0]: (1, 2)}),
    ],
)
def test_what_kafkas_tool_printed(name: str, expected: dict[TopicPartition, tuple[int, ...]]) -> None:
    assert read_plan(printed(name)).targets == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not a file of Kafka's reassignment tool"),
        ("{", "not a file of Kafka's reassignment tool"),
        ("[" * 100_000, "not a file of Kafka's reassignment tool"),
        ("Topic: orders", "not a file of Kafka's reassignment tool"),
        ("Proposed partition reassignment configuration\n", "not a file of Kafka's reassignment tool"),
        ("{}", "Partition reassignment list cannot be empty"),
        ('{"summary":{},"version":1}', "an answer of Cruise Control without its proposals: ask for them with verbose"),
        ('{"proposals":[]}', "Partition reassignment list cannot be empty"),
        ('{"proposals":[{"newReplicas":[1]}]}', "not an answer of Cruise Control: Object missing required field"),
        (
            json.dumps(cruise_control({CLICKS[0]: (1, 1)})),
            "Partition replica lists may not contain duplicate entries: clicks-0 contains multiple entries for 1",
        ),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":[1]},{"topic":"a","partition":0,"replicas":["2"]}]}',
            "not a file of Kafka's reassignment tool: Expected `int`, got `str` - at `$.partitions[1].replicas[0]`",
        ),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":[1]},{"topic":"a","partition":0,"replicas":[2]}]}',
            "Partition reassignment contains duplicate topic partitions: a-0",
        ),
    ],
)
def test_what_is_no_plan(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}"):
        read_plan(text.encode())


@given(st.lists(names, min_size=1, unique=True))
def test_an_election_there_and_back(asked: list[TopicPartition]) -> None:
    text = election_text(asked)
    assert read_election(text.encode()) == tuple(asked)
    assert text.isascii()
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_escaped(name: str) -> None:
    text = election_text([TopicPartition(name, 0)])
    assert text.count("\n") == 3
    assert json.loads(text)["partitions"] == [{"topic": name, "partition": 0}]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not a file of Kafka's election tool: Input data was truncated"),
        ("[" * 100_000, "not a file of Kafka's election tool: "),
        ("{}", "not a file of Kafka's election tool: Object missing required field `partitions`"),
        ('{"partitions":[]}', "the file names no partition"),
        ('{"version":2,"partitions":[]}', "Not supported version field value 2"),
        ('{"partitions":[{"topic":"a"}]}', "not a file of Kafka's election tool: Object missing required field"),
        ('{"partitions":[{"topic":"a","partition":-1}]}', "a--1: no partition has such a number"),
        (
            '{"partitions":[{"topic":"a","partition":1},{"topic":"a","partition":1}]}',
            "Replica partition list for leader election contains duplicates: a-1",
        ),
    ],
)
def test_what_is_no_election(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}"):
        read_election(text.encode())

"""Cases with the answers of Kafka's own classes: its unit tests (3.9), traps, and the consumers of 0.8.2.2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model.consumers.assignors.case import read_case
from model.consumers.assignors.group import AssignorError
from model.consumers.assignors.strategies import STRATEGIES, assign

DATA = Path(__file__).parents[3] / "data" / "assignors"
FILES = ("kafka_cases.jsonl", "traps.jsonl", "zookeeper_cases.jsonl")


def cases(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / file).read_text().splitlines()]


@pytest.mark.parametrize("file", FILES)
def test_the_answers_are_the_same(file: str) -> None:
    different = {}
    for case in cases(file):
        try:
            outcome = assign(read_case(case), STRATEGIES[case["assignor"]], as_kafka=True)
            lists = {member: sorted(map(list, own)) for member, own in outcome.lists().items()}
            # An idle thread is told of by ours only.
            ours: Any = {member: own for member, own in lists.items() if own or not outcome.strategy.threads}
        except AssignorError:
            ours = "fails"
        theirs = case["expect"]
        theirs = "fails" if isinstance(theirs, str) else {member: sorted(own) for member, own in theirs.items()}
        if ours != theirs:
            different[case["id"]] = (theirs, ours)
    assert not different


def test_there_are_all_of_them() -> None:
    assert [len(cases(file)) for file in FILES] == [275, 42, 13]
    assert {case["assignor"] for file in FILES for case in cases(file)} == STRATEGIES.keys() - {
        "ceil",
        "zk-roundrobin-0.10.2",
        "zk-roundrobin-1.0",
    }

"""`kdrill assign`: a case a line in, a result a line out, and what becomes of lines that are no cases."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.harness.command import Done, kdrill, running
from tui.cli.assign import written

A_AND_B = {"a": {"topics": ["t"]}, "b": {"topics": ["t"]}}
RANGE: dict[str, Any] = {"assignor": "range", "topics": {"t": 3}, "members": A_AND_B}
DONE, FAILED, USAGE = 0, 1, 2


def assigned(*arguments: str, lines: str) -> Done:
    return kdrill("assign", *arguments, said=lines)


def results(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_line_in_and_a_line_out() -> None:
    sticky = {
        "id": ["any", 1],
        "assignor": "sticky",
        "topics": {"t": 4},
        "members": {"a": {"topics": ["t"], "owned": {"t": [0, 1, 2]}, "generation": 5}, "b": {"topics": ["t"]}},
        "racks": {},
        "topic_ids": None,
    }
    done = assigned(lines=f"{json.dumps({'id': 1} | RANGE)}\n\n{json.dumps(sticky)}\n")
    assert (done.returncode, done.stderr) == (DONE, "")
    assert results(done) == [
        {
            "id": 1,
            "assignment": {"a": [["t", 0], ["t", 1]], "b": [["t", 2]]},
            "moves": 0,
            "moves_lower_bound": 0,
            "spread": 1,
            "differs_from_kafka": None,
            "error": None,
        },
        {
            "id": ["any", 1],
            "assignment": {"a": [["t", 0], ["t", 1]], "b": [["t", 2], ["t", 3]]},
            "moves": 1,
            "moves_lower_bound": 1,
            "spread": 0,
            "differs_from_kafka": None,
            "error": None,
        },
    ]


def test_the_option_stands_in_where_a_case_names_no_assignor() -> None:
    unnamed = {key: value for key, value in RANGE.items() if key != "assignor"}
    done = assigned("--strategy", "roundrobin", lines=f"{json.dumps(unnamed)}\n{json.dumps(RANGE)}\n")
    assert [result["assignment"]["a"] for result in results(done)] == [[["t", 0], ["t", 2]], [["t", 0], ["t", 1]]]


def test_it_says_why() -> None:
    owned = {"a": {"topics": ["ä"], "owned": {"ä": [0, 1]}, "generation": 1}, "b": {"topics": ["ä"]}}
    case = {"id": 1, "assignor": "sticky", "topics": {"ä": 2}, "members": owned}
    (result,) = results(assigned("--explain", lines=json.dumps(case)))
    assert result["explanation"] == {
        "balance": "Partitions per member: 2 have 1. 1 of 2 owned before move; for this balance at least 1 must.",
        "partitions": [
            {
                "member": "a",
                "topic": "ä",
                "partition": 0,
                "before": "a",
                "waits": False,
                "why": "a owned it and keeps it; the share is 1.",
            },
            {
                "member": "b",
                "topic": "ä",
                "partition": 1,
                "before": "a",
                "waits": False,
                "why": "It moves from a, which owned 2 and ends with 1; "
                "b had room below its share of 1 when its turn came.",
            },
        ],
    }


BAD_LINES = [
    ("{", "this is not JSON"),
    ("[1]", "this is not a case: Expected `object`, got `array`"),
    ('{"id":1}', "missing required field `topics`"),
    ('{"id":1,"topics":{"t":"x"},"members":{}}', "Expected `int`, got `str` - at `$.topics[...]`"),
    ('{"id":1,"topics":{"t":-1},"members":{}}', "topic t has -1 partitions: give 0 or more"),
    ('{"id":1,"topics":{"t":100000000},"members":{}}', "100,000,000 partitions: a case may have 10,000,000"),
    ('{"id":1,"topics":{},"members":{}}', "the case names no assignor: add one, or give --strategy"),
    ('{"id":1,"assignor":"best","topics":{},"members":{}}', "no strategy 'best'; there are: range, roundrobin"),
    (
        '{"id":1,"assignor":"uniform","topics":{},"members":{"m":{"topics":["t"]}}}',
        "topic t is subscribed to, but there is no such topic",
    ),
    (
        '{"id":1,"assignor":"uniform","topics":{"t":1},"members":{"m":{"topics":["t"]}},"topic_ids":{"t":"x"}}',
        "topic id 'x' of t is not a base64 UUID",
    ),
    (
        '{"id":1,"assignor":"uniform","topics":{"t":1},'
        '"members":{"m":{"topics":["t"],"owned":{"t":[0]}},"n":{"topics":["t"],"owned":{"t":[0]}}}}',
        "owned by two members",
    ),
    (
        '{"id":1,"assignor":"range","topics":{"t":1},"members":{"m":{"topics":{"t":2}}}}',
        "member m counts streams: that is for zk-range",
    ),
    (
        '{"id":1,"assignor":"zk-range","topics":{"t":1},"members":{"m":{"topics":{"t":0}}}}',
        "member m has 0 streams of t: give 1 to 10,000",
    ),
    (
        '{"id":1,"assignor":"zk-range","topics":{"t":1},"members":{"m":{"white_list":"("}}}',
        "member m: '(' is not a regular expression",
    ),
]


def test_lines_that_cannot_be_answered() -> None:
    good = json.dumps(RANGE)
    done = assigned(lines="".join(f"{line}\n" for line in (good, *(line for line, _ in BAD_LINES), good)))
    before, *failed, after = results(done)
    assert before == after
    for (line, reason), result in zip(BAD_LINES, failed, strict=True):
        assert reason in result.pop("error"), line
        assert set(result.values()) <= {None, 1}, line
    assert done.returncode == FAILED
    assert done.stderr.startswith("kdrill: line 2: this is not JSON")
    assert done.stderr.count("\n") == 1


def test_several_failures_are_counted() -> None:
    done = assigned(lines="x\ny\nz\n")
    assert done.stderr.endswith("(and 2 more: see the errors in the results)\n")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--strategy", "best"], "no strategy 'best'; there are: range, "),
        (["cases.jsonl"], "unexpected extra argument"),
    ],
)
def test_wrong_usage(arguments: list[str], reason: str) -> None:
    done = assigned(*arguments, lines="")
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert reason in done.stderr


def test_where_kafka_is_wrong_it_is_told_and_can_be_shown() -> None:
    case = RANGE | {"assignor": "sticky", "members": {"a": {"topics": []}, "b": {"topics": ["t"]}}}
    done = assigned(lines=json.dumps(case))
    (told,) = results(done)
    assert told["differs_from_kafka"] == (
        "Kafka 3.9.1 has a bug here and gives partitions to a of topics not subscribed to: t-0, t-2: "
        "it takes subscriptions for equal that are not"
    )
    assert done.stderr == f"kdrill: line 1: {told['differs_from_kafka']}\n"
    assert (done.returncode, told["assignment"]["a"]) == (DONE, [])
    shown = assigned("--as-kafka", lines=json.dumps(case))
    assert (shown.stderr, results(shown)[0]["assignment"]["a"]) == ("", [["t", 0], ["t", 2]])


def test_the_strategies_are_listed() -> None:
    done = assigned("--list", lines="")
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert {"range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range", "ceil"} <= set(names)


def test_names_of_any_kind_come_back_in_ascii() -> None:
    case = RANGE | {"members": {"ünï\u001b[2J": {"topics": ["t"]}}, "id": "é"}
    done = assigned(lines=json.dumps(case))
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout
    assert list(results(done)[0]["assignment"]) == ["ünï\u001b[2J"]


def test_results_come_while_cases_still_do() -> None:
    with running("assign", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(json.dumps({"id": number} | RANGE) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
        assert process.wait(60) == DONE


@pytest.mark.parametrize("name", ["\x7f", "\x1b[2J", "\u202e"])
def test_no_name_reaches_the_terminal_as_it_is(name: str) -> None:
    line = written({"id": name})
    assert line.isprintable()
    assert line.isascii()
    assert json.loads(line) == {"id": name}

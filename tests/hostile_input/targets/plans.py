"""Files that ask for something: plans of every tool, elections, kafka-topics' output, sizes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

from model.controller.requests import requested_moves
from model.interchange.tool_files import election_text, read_election, read_plan
from tests.hostile_input.broken_json import broken_json
from tests.hostile_input.broken_text import broken_text
from tests.hostile_input.shown import check_error
from tests.hostile_input.target import Target

_TOOLS = Path(__file__).parents[2] / "data" / "kafka-tools"
_PLAIN = b'{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}'
_OURS = (
    b'{"version":1,"kdrill":{"format":"kdrill.reassignment/1","source":"s","cluster_id":"c","zxid":3,"time_ms":1},'
    b'"partitions":[{"topic":"orders","partition":0,"replicas":[1,2],"current":[3,4]}]}'
)
_CRUISE = (
    b'{"summary":{"numReplicaMovements":1},"proposals":[{"topicPartition":{"topic":"orders","partition":0,"hash":1},'
    b'"oldLeader":1,"oldReplicas":[1,2],"newReplicas":[2,3]}]}'
)
_ELECTION = b'{"version":1,"partitions":[{"topic":"orders","partition":0},{"topic":"orders","partition":1}]}'


@cache
def _printed() -> list[bytes]:
    return [path.read_bytes() for path in sorted(_TOOLS.glob("reassign-*.txt"))]


def make_plan(random: Random) -> bytes:
    """JSON of three kinds, or a tool's output."""
    if random.random() < 0.3:
        return broken_text(random, _printed(), ("Proposed partition reassignment configuration", _PLAIN.decode()))
    return broken_json(random, (_PLAIN, _OURS, _CRUISE))


def judge_plan(case: bytes, _folder: Path) -> None:
    """Moves, or a line."""
    for read in (read_plan, requested_moves):
        try:
            read(case)
        except ValueError as error:
            _check(error)


def make_election(random: Random) -> bytes:
    """JSON."""
    return broken_json(random, (_ELECTION,))


def judge_election(case: bytes, _folder: Path) -> None:
    """Partitions that can be written down again, or a line."""
    try:
        names = read_election(case)
    except ValueError as error:
        _check(error)
        return
    text = election_text(names)
    assert text.isascii()
    assert read_election(text.encode()) == names


def _check(error: ValueError) -> None:
    """A line for the user is a plain ValueError: those of codecs and libraries are of other kinds."""
    assert not isinstance(error, UnicodeError), repr(error)
    check_error(error)


PLANS = Target("plans", make_plan, judge_plan)
ELECTIONS = Target("elections", make_election, judge_election)

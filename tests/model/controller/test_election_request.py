"""What a request to elect leaders is answered."""

import pytest

from model.controller.elections import Ballot
from model.controller.generations import elect
from model.controller.requests import STRATEGY, ElectionKind, election_problem
from tests.model.controller.ballots import ballot


@pytest.mark.parametrize(
    ("kind", "asked", "deleting", "error"),
    [
        ("preferred", None, False, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("unclean", None, True, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("preferred", ballot([1, 2], [1], {1}, leader=1), True, "INVALID_TOPIC_EXCEPTION"),
        ("preferred", ballot([1, 2], [1], {1}, leader=1), False, "ELECTION_NOT_NEEDED"),
        ("preferred", ballot([1, 2], [1], {2}, leader=1), False, "ELECTION_NOT_NEEDED"),
        ("preferred", ballot([1, 2], [2], {1, 2}, leader=2), False, None),
        ("unclean", ballot([1, 2], [2], {1, 2}, leader=2), False, "ELECTION_NOT_NEEDED"),
        ("unclean", ballot([1, 2], [2], {1}, leader=-1), False, None),
        ("unclean", ballot([1, 2], [2], {1}, leader=2), False, None),
        ("unclean", ballot([1, 2], [2], {1, 2}, leader=2, shutting={2}), False, None),
    ],
)
def test_whether_there_is_anything_to_elect(
    kind: ElectionKind, asked: Ballot | None, deleting: bool, error: str | None
) -> None:
    problem = election_problem(kind, asked, deleting=deleting)
    assert (problem and problem.error) == error


@pytest.mark.parametrize("kind", ["preferred", "unclean"])
def test_an_election_that_fails(kind: ElectionKind) -> None:
    nobody = ballot([1, 2], [2], {3}, leader=2, unclean=True)
    assert elect(STRATEGY[kind], nobody).why_not is not None


def test_an_election_that_succeeds() -> None:
    asked = ballot([1, 2], [2], {1}, unclean=True)
    assert elect(STRATEGY["unclean"], asked).why_not is None

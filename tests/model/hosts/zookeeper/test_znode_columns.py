"""Answers as columns read like the list that they are made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.zookeeper import Unread, Znode, ZnodeColumns, columns_of
from tests.model.hosts.zookeeper.test_requests import UNREAD, ZNODES

ANSWERS = st.lists(st.one_of(ZNODES, UNREAD), max_size=6)


@given(ANSWERS)
def test_they_read_like_a_list(answers: list[Znode | Unread]) -> None:
    columns = columns_of(answers)
    assert (len(columns), list(columns), columns[1:]) == (len(answers), answers, answers[1:])
    assert columns == answers == columns
    assert [columns[-1 - row] for row in range(len(answers))] == answers[::-1]
    assert columns_of(columns) is columns


@given(ANSWERS)
def test_numbers_of_all_stats_at_once(answers: list[Znode | Unread]) -> None:
    columns = columns_of(answers)
    for name in ("mzxid", "version", "pzxid"):
        expected = [getattr(answer.stat, name) if isinstance(answer, Znode) else -1 for answer in answers]
        assert columns.stat(name).tolist() == expected


@given(st.lists(ANSWERS, max_size=4))
def test_joined_they_follow_each_other(parts: list[list[Znode | Unread]]) -> None:
    assert ZnodeColumns.joined(map(columns_of, parts)) == [answer for part in parts for answer in part]

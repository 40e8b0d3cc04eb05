"""Reading ahead: in order, one at a time, and nothing is left running."""

from contextlib import closing
from threading import Event, Lock

import pytest

from model.sources.zookeeper.inbox import read_ahead


def test_the_next_part_is_read_while_one_is_worked_on():
    began = [Event() for _ in range(3)]

    def read(part: int) -> int:
        began[part].set()
        return part * 10

    found: list[int] = []
    for part, read_of_it in enumerate(read_ahead(read, range(3))):
        found.append(read_of_it)
        assert all(each.wait(10) for each in began[: part + 2])
        assert not any(each.is_set() for each in began[part + 2 :])
    assert found == [0, 10, 20]
    assert list(read_ahead(read, ())) == []


def test_a_failure_is_raised_in_its_place():
    def read(part: int) -> int:
        if part == 2:
            raise LookupError(part)
        return part

    parts, found = read_ahead(read, range(9)), list[int]()
    with pytest.raises(LookupError, match="2"):
        found.extend(parts)
    assert found == [0, 1]


def test_closing_waits_for_what_is_being_read():
    may_end, is_reading = Event(), Lock()

    def read(part: int) -> int:
        with is_reading:
            assert part == 0 or may_end.wait(10)
        return part

    with closing(read_ahead(read, range(9))) as parts:
        assert next(parts) == 0
        may_end.set()
    assert not is_reading.locked()

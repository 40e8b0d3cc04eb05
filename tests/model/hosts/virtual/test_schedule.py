"""Virtual time: what is due comes in order of time, then in the order in which it was put down."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.hosts.virtual.scheduled_events import Schedule


@given(st.lists(st.integers(min_value=0, max_value=20), max_size=40))
def test_what_is_due_comes_in_order_of_time_and_then_of_putting_down(times: list[int]) -> None:
    schedule: Schedule[int] = Schedule()
    for number, at_us in enumerate(times):
        schedule.put(at_us, number)
    taken = [schedule.take() for _ in times]
    assert [due.what for due in taken if due] == sorted(range(len(times)), key=lambda number: (times[number], number))
    assert schedule.take() is None


def test_time_is_that_of_what_was_taken_last_and_never_goes_back() -> None:
    schedule: Schedule[str] = Schedule()
    schedule.put(30, "late")
    schedule.put(10, "early")
    assert schedule.next_us == 10
    assert [schedule.take(), schedule.now_us] == [(10, 2, "early", False), 10]
    schedule.put(5, "too late to be early")
    due = schedule.take()
    assert due is not None
    assert (due.at_us, due.what) == (10, "too late to be early")
    schedule.wait(25)
    schedule.wait(20)
    assert schedule.now_us == 25


def test_idle_things_do_not_keep_a_schedule_from_being_at_rest() -> None:
    schedule: Schedule[str] = Schedule()
    schedule.put(10, "timer", idle=True)
    assert schedule.at_rest
    schedule.put(20, "message")
    assert not schedule.at_rest
    assert list(schedule.withdraw(lambda what: what == "message")) == ["message"]
    assert schedule.at_rest
    assert schedule.next_us == 10


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=20), st.integers(0, 20))
def test_a_copy_goes_on_as_the_original_would(puts: list[tuple[int, bool]], takes: int) -> None:
    schedule: Schedule[int] = Schedule()
    for number, (at_us, idle) in enumerate(puts):
        schedule.put(at_us, number, idle=idle)
    for _ in range(takes):
        schedule.take()
    copy = Schedule(schedule.now_us, schedule.due, schedule.number)
    assert (copy.at_rest, copy.next_us) == (schedule.at_rest, schedule.next_us)
    assert [copy.take() for _ in puts] == [schedule.take() for _ in puts]

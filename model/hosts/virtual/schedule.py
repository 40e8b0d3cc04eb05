"""What is due when, in virtual time. It runs nothing: whoever takes what is next due makes it happen.

What is due at the same time comes in the order in which it was put down, so every run is the same.
"""

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Due(NamedTuple, Generic[T]):
    """Something due. `number` counts what was put down; `idle`: a cluster with nothing else to do is at rest."""

    at_us: int
    number: int
    what: T
    idle: bool


class Schedule(Generic[T]):
    """A heap, and the time: that of what was taken last. Times are in microseconds since the start."""

    def __init__(self, now_us: int = 0, due: tuple[Due[T], ...] = (), number: int = 0) -> None:
        """due, number: of an earlier schedule, to go on from."""
        self.now_us = now_us
        self.number = number
        self._heap = list(due)
        self._busy = sum(not one.idle for one in due)

    @property
    def due(self) -> tuple[Due[T], ...]:
        """All of it, in no useful order."""
        return tuple(self._heap)

    @property
    def at_rest(self) -> bool:
        """Whether nothing is due but what is idle."""
        return not self._busy

    @property
    def next_us(self) -> int | None:
        """When the next is due; None if nothing is."""
        return self._heap[0].at_us if self._heap else None

    def put(self, at_us: int, what: T, *, idle: bool = False) -> int:
        """Put something down, not before now; its number."""
        self.number += 1
        heappush(self._heap, Due(max(at_us, self.now_us), self.number, what, idle))
        self._busy += not idle
        return self.number

    def take(self) -> Due[T] | None:
        """What is next due, and it is that time now; None if nothing is due."""
        if not self._heap:
            return None
        due = heappop(self._heap)
        self.now_us = due.at_us
        self._busy -= not due.idle
        return due

    def wait(self, until_us: int) -> None:
        """Let time pass in which nothing is due."""
        self.now_us = max(self.now_us, until_us)

    def withdraw(self, unwanted: Callable[[T], bool]) -> Iterator[T]:
        """Take out what is not to happen, in order."""
        gone = sorted(due for due in self._heap if unwanted(due.what))
        if gone:
            numbers = {due.number for due in gone}
            self._heap = [due for due in self._heap if due.number not in numbers]
            heapify(self._heap)
            self._busy -= sum(not due.idle for due in gone)
        return (due.what for due in gone)

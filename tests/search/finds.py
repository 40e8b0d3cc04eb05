"""A plugin of pytest for one round: properties play new examples, and each find is told with the line that keeps it.

pytest -p tests.search.finds --hypothesis-profile=search --hypothesis-seed=N --until=EPOCH_S
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

FOUND_MARK, END_MARK = "FOUND ", "END OF FIND"
CALL = re.compile(r"^(?:Failing|Falsifying) [a-z ]+: \w+\(", re.MULTILINE)
"""Hypothesis writes the failing call; with `@example` for its name it is the line that keeps it."""

settings.register_profile(
    "search",
    deadline=None,
    database=None,  # a find is kept in the test's file, where everybody has it
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Properties that were not begun by then are left for another round."""
    parser.addoption("--until", type=float, default=float("inf"), metavar="EPOCH_S")


def pytest_configure(config: pytest.Config) -> None:
    """For this run alone."""
    config.pluginmanager.register(_Round(config.option.until))


class _Round:
    def __init__(self, until_s: float) -> None:
        self._until_s = until_s

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """After each property."""
        if time.time() >= self._until_s:
            item.session.shouldstop = "the time is up"

    def pytest_exception_interact(self, node: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Prints the find: which property, what went wrong, and the line for its file."""
        if call.excinfo is None:
            return
        for error in _each(call.excinfo.value):
            first = str(error).partition("\n")[0]
            print(f"\n{FOUND_MARK}{node.nodeid}: {type(error).__name__}: {first}")
            print(kept("\n".join(getattr(error, "__notes__", ()))))
            print(END_MARK, flush=True)


def kept(notes: str) -> str:
    """What Hypothesis notes of a failure, with the call as a decorator that plays it in each run from then on."""
    return CALL.sub("@example(", notes)


def _each(error: BaseException) -> Iterator[BaseException]:
    """Where a property fails in several ways, Hypothesis raises all of them together."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            yield from _each(one)  # pyright: ignore[reportUnknownArgumentType]
    else:
        yield error

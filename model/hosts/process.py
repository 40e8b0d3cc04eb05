"""What a process of kdrill arranges for itself: garbage collection, crash reports, open files, what it loads.

A crash report names the kind of defect and where in the program it happened, never the values: these may be secrets.
An exception's message often quotes what could not be used: a payload, a setting, a password. Messages of some types
speak of code alone and are reported. Whatever a terminal would obey is escaped.
"""

import gc
import resource
import sys
import threading
import traceback
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, cast


@contextmanager
def uncollected() -> Generator[None]:
    """No collections meanwhile, for short work that makes very many objects, all without cycles and most to stay.

    It holds for the whole process: whoever comes first ends it, so that it never outlasts them. Also from many threads.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def loading() -> Generator[None]:
    """The same for what a program loads to keep: no later collection walks through it either, which takes frames."""
    with uncollected():
        gc.collect()  # what is waste by now is not to be kept
        yield
        gc.freeze()


_SELDOM = 500
"""Collections of the younger objects from one of all objects to the next: 10 as Python begins."""


def keep() -> None:
    """What there is by now stays: no later collection walks through it, and those of all that comes later are seldom.

    For a process that has loaded what it will keep, and follows what changes: a collection of everything would hold it
    up for a tenth of a second. What nobody names any more is freed at once, unless it is part of a cycle.
    """
    gc.collect()
    gc.freeze()
    youngest, younger, _ = gc.get_threshold()
    gc.set_threshold(youngest, younger, _SELDOM)


_SPEAK_OF_CODE = (
    ArithmeticError, AttributeError, ImportError, IndexError, MemoryError, NameError, OSError, RuntimeError, TypeError,
)  # fmt: skip
_ROOT = Path(__file__).parents[2]
_OURS = ("model", "spark_tasks", "tui")


def crash_line(error: BaseException) -> str:
    """`a defect in kdrill: ValueError in model/znodes/codec.py:33 (decode)`."""
    place = _place(error.__traceback__)
    return f"a defect in kdrill: {_named(error)}{place and f' in {place}'}"


def crash_text(error: BaseException) -> str:
    """The same as lines, with all calls that led there, and what happened before."""
    return "\n".join(_lines(error))


def tell_no_values() -> None:
    """From now on this process tells of defects nobody foresaw as `crash_text` does, and leaves no image of its memory.

    For the beginning of a program: it changes what holds for the whole process.
    """
    import logging  # noqa: PLC0415 - only who calls this waits for it
    import resource  # noqa: PLC0415

    class WithoutValues(logging.Formatter):
        """What asyncio says of a task whose exception nobody took quotes it."""

        def format(self, record: logging.LogRecord) -> str:
            error = record.exc_info and record.exc_info[1]
            return crash_text(error) if error else super().format(record)

    sys.excepthook = lambda _, error, __: _print(error)
    threading.excepthook = lambda told: told.exc_value and _print(told.exc_value)
    sys.unraisablehook = lambda told: told.exc_value and _print(told.exc_value)
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(WithoutValues())
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _print(error: BaseException) -> None:
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is None where there is no such file
        print(crash_text(error), file=sys.stderr, flush=True)


def _lines(error: BaseException) -> Iterator[str]:
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _lines(before)
        yield "and then:"
    if isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _lines(each)
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"  {_file(frame.filename)}:{frame.lineno} ({frame.name})  {frame.line or ''}".rstrip()
    yield crash_line(cast(BaseException, error))


def _named(error: BaseException) -> str:
    said = str(error) if isinstance(error, _SPEAK_OF_CODE) else ""
    return type(error).__name__ + (said and f": {ascii(said)[1:-1]}")


def _place(calls: TracebackType | None) -> str:
    """The last call in our own code, or else the last one."""
    frames = traceback.extract_tb(calls)
    ours = [frame for frame in frames if _file(frame.filename).startswith(tuple(f"{name}/" for name in _OURS))]
    last = (ours or frames)[-1:]
    return "".join(f"{_file(frame.filename)}:{frame.lineno} ({frame.name})" for frame in last)


def _file(name: str) -> str:
    return str(Path(name).relative_to(_ROOT)) if name.startswith(f"{_ROOT}/") else name


def raise_file_limit() -> None:
    """As many as the system allows: the soft limit, often 1024, is there for programs that call select."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def file_limit() -> int:
    """How many may be open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


HYPOTHESIS = "hypothesis"


@contextmanager
def without_hypothesis() -> Generator[None]:
    """For what a program imports first: kio, then, finds no Hypothesis, and prepares none of its types for it.

    In a checkout, where it is installed, that takes half of a broker's start. Whoever has loaded it already keeps it.
    """
    modules: dict[str, Any] = sys.modules
    if HYPOTHESIS in modules:
        yield
        return
    modules[HYPOTHESIS] = None  # the language's own way to say that there is no such module
    try:
        yield
    finally:
        del modules[HYPOTHESIS]

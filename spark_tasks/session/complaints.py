"""What Spark and Java say in pages, in one line for the user. Pure."""

import re
from collections.abc import Iterable

from spark_tasks.session.masters import RETRIES

LONGEST_LINE = 300
_NAMED = re.compile(r"Exception|Error\b|ERROR")
_CLASS = re.compile(
    r"""^(?:Exception\ in\ thread\ "[^"]*"\ )?(?:Caused\ by:\ |:\ )?(?:[\w$]+\.)+[\w$]+:\ """, re.VERBOSE
)


def in_one_line(text: str) -> str:
    """The deepest cause in a Java stack trace, or the first line that names an error; empty when there is none."""
    lines = [line.strip() for line in text.splitlines()]
    if any("Python worker exited unexpectedly" in line for line in lines):
        return f"a worker process was killed {RETRIES} times at the same task: is there enough memory?"
    if missing := _last(line for line in lines if line.startswith("ModuleNotFoundError")):
        return f"the executors' Python lacks a library ({missing}): name one that has kdrill's with PYSPARK_PYTHON"
    deepest = _last(line for line in lines if line.startswith("Caused by: "))
    named = deepest or next((line for line in lines if _NAMED.search(line)), "")
    return _CLASS.sub("", named)[:LONGEST_LINE]


def _last(lines: Iterable[str]) -> str:
    return ([*lines] or [""])[-1]

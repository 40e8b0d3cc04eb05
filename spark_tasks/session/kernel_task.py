"""What a worker does: find the analysis, map the arrays, call the kernel. Runs in workers; imports no Spark.

A failure of the kernel comes back as a value: Spark would try the same again three times, and tell it in a page.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from spark_tasks import arrow_arrays
from spark_tasks.errors import AnalysisError
from spark_tasks.registry import find

Batch = tuple[bool, bytes]
"""Whether it went well, and the arrays as `arrow_arrays` encodes them, or the reason."""


@dataclass(frozen=True)
class KernelTask:
    """Called by Spark with the tasks of one partition, each a list of units."""

    analysis: str
    parameters: bytes
    arrays: Any
    """The path of a file, or what `open`s to the arrays in a worker elsewhere."""

    def __call__(self, tasks: Iterable[Sequence[int]]) -> Iterator[Batch]:
        """A batch for each task."""
        try:
            analysis = find(self.analysis)
            parameters = msgspec.json.decode(self.parameters, type=analysis.parameters_type)
            arrays = arrow_arrays.open(self.arrays) if isinstance(self.arrays, str) else self.arrays.open()
            for units in tasks:
                yield True, arrow_arrays.encode(analysis.kernel(units, arrays, parameters))
        except Exception as error:
            yield False, failure(error).encode()


def failure(error: Exception) -> str:
    """One line: what an analysis says is meant for the user, all else is ours to mend."""
    if isinstance(error, AnalysisError):
        return str(error)
    return f"a defect in kdrill: {type(error).__name__}: {error}".replace("\n", " ")


def warm(_: Iterable[object]) -> Iterator[str]:
    """Nothing but what importing costs; the worker keeps it for the jobs that follow."""
    yield arrow_arrays.__name__

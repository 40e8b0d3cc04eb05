"""Arrays on their way to executors elsewhere, once each: the last ones stay there for the next job.

A file travels in parts, so that nobody holds all of it in memory: executors put it together on their disks, and their
workers map it, as workers here do with the file itself.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_tasks import arrow_arrays
from spark_tasks.analysis import Arrays
from spark_tasks.errors import AnalysisError

KEPT = 4
PART_BYTES = 64 << 20
"""A part is in memory at a time, here and in each worker; every part costs some milliseconds."""


@dataclass(frozen=True)
class Spread:
    """A file, as a task knows it: broadcasts of its parts, in order. `number` no other file of the session has."""

    number: int
    parts: tuple[Any, ...]

    def open(self) -> Arrays:
        """In a worker: the file's arrays. Raises AnalysisError when the executor's disk does not take them."""
        from pyspark import SparkFiles  # noqa: PLC0415 - workers here have no use for it

        folder = Path(SparkFiles.getRootDirectory())
        path = folder / f"arrays-{self.number}.arrow"
        try:
            try:
                return arrow_arrays.open(path)
            except FileNotFoundError:
                return self._put_together(folder, path)
        except OSError as error:
            raise AnalysisError(f"an executor can't keep the arrays on its disk: {error.strerror or error}") from error

    def _put_together(self, folder: Path, path: Path) -> Arrays:
        older = sorted(folder.glob("arrays-*.arrow"), key=lambda each: int(each.stem.partition("-")[2]))
        for each in older[: 1 - KEPT]:  # who maps it still has it
            each.unlink(missing_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        with part.open("wb") as file:
            for piece in self.parts:
                file.write(_value(piece))
        arrays = arrow_arrays.open(part)
        part.replace(path)
        return arrays


class Broadcasts:
    """By file. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_file: OrderedDict[Path, Spread] = OrderedDict()
        self._last_number = 0

    def of(self, context: Any, file: Path) -> Spread:
        """The file's bytes, broadcast. Raises OSError."""
        with self._lock:
            if file not in self._by_file:
                self._last_number += 1
                self._by_file[file] = Spread(self._last_number, tuple(map(context.broadcast, _parts(file))))
            self._by_file.move_to_end(file)
            while len(self._by_file) > KEPT:
                # Executors forget it; a job that still needs it makes them fetch it again.
                for part in self._by_file.popitem(last=False)[1].parts:
                    part.unpersist()
            return self._by_file[file]


def _parts(file: Path) -> Iterator[bytes]:
    with file.open("rb") as source:
        while part := source.read(PART_BYTES):
            yield part


def _value(part: Any) -> bytes:
    """Read anew where it can be: a broadcast keeps its value for as long as its worker lives."""
    path = getattr(part, "_path", None)
    return part.value if path is None else part.load_from_path(path)

"""Arrays as files for Spark's workers. A file lives as long as a job reads it; the newest stays for the next job."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from spark_tasks.analysis import Arrays


@dataclass
class _File:
    arrays: Arrays
    path: Path
    written: "asyncio.Task[None]"
    readers: int = 0


class ArrayFiles:
    """In one folder, for one event loop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[_File] = []
        self._last_number = 0

    @contextlib.asynccontextmanager
    async def of(self, arrays: Arrays) -> AsyncGenerator[Path]:
        """The file of these arrays: the same object has the same file. Raises OSError."""
        file = next((file for file in self._files if file.arrays is arrays), None) or self._new(arrays)
        file.readers += 1
        try:
            await asyncio.shield(file.written)
            yield file.path
        finally:
            file.readers -= 1
            if file.written.done() and file.written.exception() is not None and file in self._files:
                self._files.remove(file)  # the next one may fare better
            self._drop_unread()

    def _new(self, arrays: Arrays) -> _File:
        self._last_number += 1
        path = self._folder / f"arrays-{self._last_number}.arrow"
        file = _File(arrays, path, asyncio.create_task(asyncio.to_thread(_write, path, arrays)))
        self._files.append(file)
        return file

    def _drop_unread(self) -> None:
        for file in self._files[:-1]:
            if not file.readers:
                self._files.remove(file)
                file.path.unlink(missing_ok=True)


def _write(path: Path, arrays: Arrays) -> None:
    from spark_tasks import arrow_arrays  # noqa: PLC0415 - takes pyarrow, which no status needs

    arrow_arrays.write(path, arrays)

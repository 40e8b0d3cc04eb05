"""Has the class archive built for the next start, in a process of its own that ends with this one."""

import asyncio
import subprocess
import sys

import msgspec

from model.sandbox.java import find_java
from spark_tasks.options import SparkOptions
from spark_tasks.session.archive import class_archive

BUILDER = (sys.executable, "-P", "-m", "spark_tasks", "--build-archive")
"""-P: whatever lies in the current folder is not ours."""
BUILD_AFTER_S = 5.0
"""It takes half a minute of CPU, which whoever waits for a first result needs more."""


class ArchiveBuilding:
    """Nothing, until `begin_later`. For one event loop."""

    def __init__(self, options: SparkOptions) -> None:
        self._options = options
        self._timer: asyncio.TimerHandle | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def begin_later(self) -> None:
        """Where the options want an archive and there is none. Raises SandboxError when Java is gone."""
        if self._options.build_archive and not class_archive(find_java(), self._options).is_built():
            self._timer = asyncio.get_running_loop().call_later(BUILD_AFTER_S, self._begin)

    def close(self) -> None:
        """Stop building."""
        if self._timer is not None:
            self._timer.cancel()
        if self._process is not None:
            self._process.communicate()

    def _begin(self) -> None:
        self._process = subprocess.Popen(
            BUILDER, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, bufsize=0
        )
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(self._options) + b"\n")

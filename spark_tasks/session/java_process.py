"""Spark's Java process: started by Spark's own script, ended with the pipe to its input, whatever ends this process.

What it prints goes to a file. It knows nothing of jobs.
"""

import signal
import struct
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from model.sandbox.guarded_folder import GuardedFolder
from spark_tasks.errors import SparkLost
from spark_tasks.session.complaints import in_one_line

LOOK_EVERY_S = 0.02
FAREWELL_S = 5.0


class JavaProcess:
    """From its start to `close`."""

    def __init__(
        self, spark: Path, settings: Mapping[str, str], environment: Mapping[str, str], folder: GuardedFolder
    ) -> None:
        """Starts it; `folder` is for its log and its other files. Raises SparkLost where there is no shell."""
        self.log = folder.path / "java.log"
        self._says_where = folder.path / "gateway"
        command = [str(spark / "bin" / "spark-submit")]
        for name, value in settings.items():
            command += ["--conf", f"{name}={value}"]
        told = {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._says_where), "SPARK_CONNECT_MODE": "0"}
        try:
            with self.log.open("wb") as log:
                self._process = subprocess.Popen(
                    [*command, "pyspark-shell"],
                    stdin=subprocess.PIPE,  # where it ends, Java ends: org.apache.spark.api.python.PythonGatewayServer
                    stdout=log,
                    stderr=log,
                    cwd=folder.path,
                    env={**environment, **told},
                    pass_fds=[folder.pipe],  # it makes its folder again where that is gone while it starts
                    start_new_session=True,
                )
        except OSError as error:
            raise SparkLost(f"Spark can't be started: {error.strerror}: {error.filename}") from error

    @property
    def pid(self) -> int:
        """Java's process id."""
        return self._process.pid

    def gateway(self) -> tuple[int, str]:
        """The port it listens on for Python, and the secret, once it does. Raises SparkLost when it ended before."""
        while not self._says_where.exists():
            if self._process.poll() is not None:
                raise SparkLost(self.how_it_ended())
            time.sleep(LOOK_EVERY_S)
        told = self._says_where.read_bytes()
        port, length = struct.unpack_from(">ii", told)
        return port, told[8 : 8 + length].decode()

    def has_ended(self, within_s: float = 1.0) -> bool:
        """Whether it has, or does in a moment: its connections end before it does."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        return self._process.poll() is not None

    def wait(self) -> str:
        """Wait until it ends, and say how."""
        self._process.wait()
        return self.how_it_ended()

    def how_it_ended(self) -> str:
        """One line, with what it said last where it gave up by itself."""
        code = self._process.wait()
        if code < 0:
            return f"Spark's Java process ended (killed by {signal.Signals(-code).name})"
        complaint = in_one_line(self.log.read_text(errors="replace"))
        return f"Spark's Java process ended ({complaint or f'exit code {code}'})"

    def close(self, timeout_s: float = FAREWELL_S) -> bool:
        """End it, in order if it can within `timeout_s`. Whether it did."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return False
        return True

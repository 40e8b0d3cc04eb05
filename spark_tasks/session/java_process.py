"""Spark's Java: the master, settings and environment, the class archive, the process, and its complaints in one line.

The settings are for our kind of work: small tasks, big arrays, a short start; the figures behind them are in
`tests/benchmarks/spark_start.py`. C1 and SerialGC make Java start faster; they would slow down work inside Java, of
which there is little. Without the class archive a start takes about twice as long. The process is started by Spark's
own script and ended with the pipe to its input, whatever ends this process; what it prints goes to a file.
"""

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from model.sandbox.java import ClassArchive, Java, java_environment, pyspark_jars_folder
from model.sandbox.processes import GuardedFolder
from spark_tasks.messages import SparkLost, SparkOptions

FORMS = "local[2], spark://host:7077, yarn or k8s://https://host:port"
_LOCAL = re.compile(r"local(?:\[(\*|[1-9]\d{0,3})(?:,[1-9]\d?)?\])?", re.ASCII)
_STANDALONE = re.compile(r"spark://([^\s/,:@]+:\d{1,5}(?:,[^\s/,:@]+:\d{1,5})*)", re.ASCII)
_OTHER = re.compile(r"yarn|k8s://\S+", re.ASCII)
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}", re.ASCII)
RETRIES = 4
"""How often a task may lose its worker: Spark's own number for clusters. It has 1 where it runs locally."""


def check(master: str, timeout_s: float = 5.0) -> None:
    """Raises SparkLost for what is no master's address, and for a standalone master that does not answer."""
    if not any(form.fullmatch(master) for form in (_LOCAL, _STANDALONE, _OTHER)):
        raise SparkLost(f"--spark-master {master!r}: no master is written so; write {FORMS}")
    failures: list[str] = []
    for host, port in _addresses(master):
        try:
            socket.create_connection((host, port), timeout_s).close()
            return
        except (OSError, OverflowError, UnicodeError) as error:
            failures.append(f"{host}:{port} ({getattr(error, 'strerror', None) or error})")
    if failures:
        raise SparkLost(f"no Spark master answers at {', '.join(failures)}: is it running, and is the port right?")


def is_local(master: str) -> bool:
    """Whether its workers are processes of this machine that the session starts itself."""
    return _LOCAL.fullmatch(master) is not None


def is_on_loopback(master: str) -> bool:
    """Whether nothing outside this machine needs to reach the session."""
    return is_local(master) or any(_LOOPBACK.fullmatch(host) for host, _ in _addresses(master))


def as_spark_takes_it(master: str) -> str:
    """The same with retries: a local task whose worker was killed is to be tried again, as on a cluster."""
    found = _LOCAL.fullmatch(master)
    if found is None or "," in master:
        return master
    return f"local[{found[1] or 1},{RETRIES}]"


def _addresses(master: str) -> Iterator[tuple[str, int]]:
    if found := _STANDALONE.fullmatch(master):
        for address in found[1].split(","):
            host, _, port = address.rpartition(":")
            yield host, int(port)


def class_archive(java: Java, options: SparkOptions) -> ClassArchive:
    """Where it is, or will be. Raises SandboxError when PySpark is not installed."""
    jars = sorted(pyspark_jars_folder().glob("*.jar"))
    folder = Path(options.archives) if options.archives else user_cache_path("kdrill")
    return ClassArchive.of(java, jars, folder, "spark")


QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
FOREIGN_SETTINGS = ("PYSPARK_SUBMIT_ARGS", "PYSPARK_DRIVER_PYTHON", "PYSPARK_PIN_THREAD", "SPARK_TESTING")
"""They turn pyspark into something else than what is asked for here."""


KEPT_BY_WORKERS = {"MALLOC_MMAP_THRESHOLD_": 64 << 20, "MALLOC_TRIM_THRESHOLD_": 256 << 20}
"""Bytes: what glibc gets anew for each array, and what it gives back. By its own measures, half of a worker's processor
time is the kernel's, for pages of arrays that live for a moment (10,000,000 partitions)."""


def settings_of(options: SparkOptions, folder: Path, archive: Sequence[str]) -> dict[str, str]:
    """Everything Spark is told. `folder` is for its files, `archive` are Java's flags to use a class archive."""
    flags = [*QUICK_START, *archive, f"-Djava.io.tmpdir={folder}"]
    settings = {
        "spark.master": as_spark_takes_it(options.master),
        "spark.app.name": "kdrill",
        "spark.driver.memory": options.driver_memory,
        "spark.driver.maxResultSize": "0",
        "spark.driver.extraJavaOptions": " ".join(f'"{flag}"' if " " in flag else flag for flag in flags),
        "spark.executor.extraJavaOptions": " ".join(QUICK_START),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # A small job takes its turn beside a long one, task by task.
        "spark.scheduler.mode": "FAIR",
        "spark.locality.wait": "0",
        "spark.python.task.killTimeout": "100ms",
        "spark.local.dir": str(folder),
    }
    settings |= {f"spark.executorEnv.{name}": str(size) for name, size in KEPT_BY_WORKERS.items()}
    if is_on_loopback(options.master):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings | options.settings


def environment_of(options: SparkOptions, home: Path, spark: Path) -> dict[str, str]:
    """The environment of Spark's Java, which local workers inherit.

    `home` is a folder that becomes JAVA_HOME; `spark` is PySpark's own, whatever other Spark SPARK_HOME names.
    """
    kept = {name: value for name, value in java_environment().items() if name not in FOREIGN_SETTINGS}
    kept |= {"JAVA_HOME": str(home), "SPARK_HOME": str(spark), "PATH": kept.get("PATH") or os.defpath}
    kept |= _python(kept, is_local(options.master))
    return kept


def _python(kept: Mapping[str, str], local: bool) -> dict[str, str]:
    """Workers here run what runs this; on a cluster they may have a Python elsewhere."""
    if not local:
        return {"PYSPARK_PYTHON": kept.get("PYSPARK_PYTHON") or sys.executable}
    ours = str(Path(__file__).resolve().parents[2])
    others = [folder for folder in kept.get("PYTHONPATH", "").split(os.pathsep) if folder]
    return {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join([ours, *others])}


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

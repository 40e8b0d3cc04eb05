"""A real standalone Spark cluster on loopback, of PySpark's own classes: a master and workers of one core each."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from model.sandbox.java import find_java, java_environment, pyspark_jars_folder
from model.sandbox.processes import GuardedProcess
from tests.harness.waiting import eventually

WORKERS = 2
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xmx512m")
ON_ANY_PORT = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
DEADLINE_S = 120.0


class StandaloneCluster:
    """From entering to leaving the context; all of it in `folder`."""

    def __init__(self, folder: Path, workers: int = WORKERS) -> None:
        self._workers = workers
        self.master = ""
        """`spark://127.0.0.1:PORT`, once entered."""
        self.folder = folder
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            master = self._start(opening, "master", "master.Master")
            self.master = self._told("master", master, r"Starting Spark master at (spark://\S+)")
            workers = [self._start_worker(opening, number) for number in range(self._workers)]
            for number, worker in enumerate(workers):
                self._told(f"worker-{number}", worker, r"Successfully registered with master (\S+)")
            self._open = opening.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def _start_worker(self, opening: ExitStack, number: int) -> GuardedProcess:
        own = ("--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / f"work-{number}"), self.master)
        return self._start(opening, f"worker-{number}", "worker.Worker", *own)

    def _start(self, opening: ExitStack, name: str, kind: str, *own: str) -> GuardedProcess:
        jars = pyspark_jars_folder()
        java = [str(find_java().program), *QUICK, "-cp", f"{jars}/*", f"org.apache.spark.deploy.{kind}"]
        told = {"SPARK_HOME": str(jars.parent), "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": "127.0.0.1"}
        process = GuardedProcess(
            [*java, *ON_ANY_PORT, *own],
            folder=self.folder,
            log=self.folder / f"{name}.log",
            environment=java_environment() | told,
        )
        opening.callback(process.close)
        return process

    def _told(self, name: str, process: GuardedProcess, pattern: str) -> str:
        log = self.folder / f"{name}.log"

        def told() -> re.Match[str] | None:
            assert process.exit_code() is None, log.read_text()
            return re.search(pattern, log.read_text(errors="replace"))

        return eventually(told, pattern, DEADLINE_S, standing=log.read_text)[1]

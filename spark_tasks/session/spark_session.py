"""A Spark session from its start to its end, and the one place that knows in which order things are started.

Blocks: for threads. It does not decide when, and tells nobody. To build the class archive a local session runs once,
and Java writes what it loaded; that takes half a minute.
"""

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from model.sandbox.java import Java, find_java, pyspark_jars_folder
from model.sandbox.processes import GuardedFolder, SandboxError, temporary_folder
from spark_tasks.messages import SparkLost, SparkOptions
from spark_tasks.session import java_process
from spark_tasks.session.java_process import JavaProcess, class_archive, environment_of, settings_of

if TYPE_CHECKING:
    from spark_tasks.session.spark_jobs import SparkJobs


class SparkSession:
    """One session, from `start` to `stop`."""

    def __init__(self, options: SparkOptions, folder: GuardedFolder, archive_to_write: Path | None = None) -> None:
        """Touches nothing yet. `folder` is for its files. `archive_to_write` is where Java puts the classes it loaded
        when it ends; without it an archive that is there is used."""
        self._options = options
        self._folder = folder
        self._archive_to_write = archive_to_write
        self._java: JavaProcess | None = None
        self._stopping = threading.Event()

    def start(self) -> "SparkJobs":
        """What runs jobs, once workers have run a first task. Raises SparkLost: one line that says why not."""
        java_process.check(self._options.master)
        try:
            java, spark = find_java(), pyspark_jars_folder().parent
            settings = settings_of(self._options, self._folder.path, self._archive_flags(java))
        except SandboxError as error:
            raise SparkLost(str(error)) from error
        environment = environment_of(self._options, self._java_home(java), spark)
        os.environ.update({name: environment[name] for name in ("PYSPARK_PYTHON", "SPARK_HOME")})
        process = self._java = JavaProcess(spark, settings, environment, self._folder)
        if self._stopping.is_set():
            process.close(0)
        # What takes a second to import is imported while Java starts.
        from spark_tasks.session.spark_jobs import (  # noqa: PLC0415
            SparkJobs,
            open_context,
            warm_up,
        )

        is_local = java_process.is_local(self._options.master)
        context = open_context(process, settings, None if is_local else self._folder.path / "kdrill-code.zip")
        job_s = warm_up(context, process, self._options.start_timeout_s)
        return SparkJobs(context, process, self._folder.path, is_local=is_local, job_s=job_s)

    def pids(self) -> tuple[int, ...]:
        """Of this process and of Java."""
        return (os.getpid(), *([self._java.pid] if self._java is not None else []))

    def wait(self) -> str:
        """Wait until Java ends, and say how. After `start`."""
        assert self._java is not None
        return self._java.wait()

    def stop(self, timeout_s: float = 5.0) -> bool:
        """End Spark and its workers. Whether it ended in order."""
        self._stopping.set()
        return self._java is None or self._java.close(timeout_s)

    def _java_home(self, java: Java) -> Path:
        """Spark's script wants a folder, while any program may be named as `java`."""
        home = self._folder.path / "java"
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "java").symlink_to(java.program.absolute())
        return home

    def _archive_flags(self, java: Java) -> list[str]:
        if self._archive_to_write is not None:
            return [f"-XX:ArchiveClassesAtExit={self._archive_to_write}"]
        return class_archive(java, self._options).flags()


LONGEST_DUMP_S = 120.0


def build_archive(options: SparkOptions) -> bool:
    """Whether the archive is there now. Raises SandboxError when there is no Java."""
    local = msgspec.structs.replace(options, master="local[2]")
    return class_archive(find_java(), options).build(lambda file: _train(local, file))


def _train(options: SparkOptions, file: Path) -> None:
    folder = temporary_folder("kdrill-spark-")
    session = SparkSession(options, folder, archive_to_write=file)
    try:
        session.start().progress("none")
        if not session.stop(LONGEST_DUMP_S):
            raise SparkLost("Java did not write the class archive in time")
    finally:
        session.stop(0)
        folder.remove()

"""A Spark session from its start to its end, and the one place that knows in which order things are started.

Blocks: for threads. It does not decide when, and tells nobody.
"""

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from model.sandbox.errors import SandboxError
from model.sandbox.guarded_folder import GuardedFolder
from model.sandbox.java import Java, find_java
from model.sandbox.zookeeper_jars import pyspark_jars_folder
from spark_tasks.errors import SparkLost
from spark_tasks.options import SparkOptions
from spark_tasks.session import masters
from spark_tasks.session.archive import class_archive
from spark_tasks.session.java_process import JavaProcess
from spark_tasks.session.settings import environment_of, settings_of

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
        masters.check(self._options.master)
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
        from spark_tasks.session.context import open_context, warm_up  # noqa: PLC0415
        from spark_tasks.session.spark_jobs import SparkJobs  # noqa: PLC0415

        is_local = masters.is_local(self._options.master)
        context = open_context(process, settings, None if is_local else self._folder.path / "kdrill-code.zip")
        warm_up(context, process, self._options.start_timeout_s)
        return SparkJobs(context, process, is_local=is_local)

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

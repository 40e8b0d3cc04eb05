"""Spark's settings and environment for our kind of work: small tasks, big arrays, a short start. Starts nothing.

The figures behind them are in `tests/benchmarks/spark_start.py`. C1 and SerialGC make Java start faster; they would
slow down work inside Java, of which there is little: the work is in Python.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from model.sandbox.java import java_environment
from spark_tasks.options import SparkOptions
from spark_tasks.session.masters import as_spark_takes_it, is_local, is_on_loopback

QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
FOREIGN_SETTINGS = ("PYSPARK_SUBMIT_ARGS", "PYSPARK_DRIVER_PYTHON", "PYSPARK_PIN_THREAD", "SPARK_TESTING")
"""They turn pyspark into something else than what is asked for here."""


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

"""The archive of the classes that Spark's Java loads, and how it is made: by a session that loads them and ends.

Without it a start takes about twice as long. It is a cache like the one of ZooKeeper's server.
"""

from pathlib import Path

from platformdirs import user_cache_path

from model.sandbox.class_archive import ClassArchive
from model.sandbox.java import Java
from model.sandbox.zookeeper_jars import pyspark_jars_folder
from spark_tasks.options import SparkOptions


def class_archive(java: Java, options: SparkOptions) -> ClassArchive:
    """Where it is, or will be. Raises SandboxError when PySpark is not installed."""
    jars = sorted(pyspark_jars_folder().glob("*.jar"))
    folder = Path(options.archives) if options.archives else user_cache_path("kdrill")
    return ClassArchive.of(java, jars, folder, "spark")

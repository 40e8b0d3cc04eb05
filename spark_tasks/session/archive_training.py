"""Makes the class archive: runs a local session once, and lets Java write what it loaded. Takes half a minute."""

from pathlib import Path

import msgspec

from model.sandbox.guarded_folder import temporary_folder
from model.sandbox.java import find_java
from spark_tasks.errors import SparkLost
from spark_tasks.options import SparkOptions
from spark_tasks.session.archive import class_archive
from spark_tasks.session.spark_session import SparkSession

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

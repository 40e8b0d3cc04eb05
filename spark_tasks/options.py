"""What the Spark process is told before all else."""

import msgspec


class SparkOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How Spark is to run. Sizes and times have defaults that suit one machine."""

    master: str = "local[*]"
    """`local[N]`, `local[*]`, `spark://host:port`, `yarn` or `k8s://https://host:port`."""
    settings: dict[str, str] = {}
    """Spark's own settings by their names (`spark.executor.memory`); they win over ours."""
    driver_memory: str = "2g"
    """The heap of the Java process here."""
    start_timeout_s: float = 120.0
    """How long the first task may wait for an executor."""
    archives: str = ""
    """The folder of class archives; the user's cache folder if empty."""
    build_archive: bool = True
    """Whether to build a class archive for the next start, once this one is ready."""

"""The jars an embedded ZooKeeper needs, out of PySpark's own. It does not import pyspark and downloads nothing."""

from importlib.util import find_spec
from pathlib import Path

from model.sandbox.errors import SandboxError

# Without snappy-java the server answers `imok` and never serves; without an slf4j binding it starts fastest.
NEEDED = ("zookeeper", "zookeeper-jute", "slf4j-api", "metrics-core", "snappy-java")


def zookeeper_jars(folder: Path | None = None) -> tuple[Path, ...]:
    """The jars of `NEEDED`, in that order, in `folder` or PySpark's `jars`. Raises SandboxError when one is absent."""
    folder = folder or pyspark_jars_folder()
    # `zookeeper-3.9.5.jar` but not `zookeeper-jute-3.9.5.jar`: a version begins with a digit.
    found = {name: sorted(folder.glob(f"{name}-[0-9]*.jar")) for name in NEEDED}
    if absent := [name for name, jars in found.items() if not jars]:
        raise SandboxError(f"{folder} lacks the jar of {', '.join(absent)}. Reinstall pyspark 4.")
    return tuple(jars[-1] for jars in found.values())


def pyspark_jars_folder() -> Path:
    """Where the installed PySpark keeps its jars. Raises SandboxError when PySpark is not installed."""
    spec = find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise SandboxError("pyspark is not installed, and ZooKeeper comes out of its jars. Install pyspark 4.")
    return Path(spec.submodule_search_locations[0]) / "jars"

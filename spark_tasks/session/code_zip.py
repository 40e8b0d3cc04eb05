"""The packages that kernels need, as one zip for executors elsewhere. Libraries must be installed there."""

import zipfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("model", "spark_tasks")


def write_code(path: Path, packages: Iterable[str] = PACKAGES) -> Path:
    """Write the zip to `path`, from wherever the packages were imported from."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as code:
        for package in packages:
            spec = find_spec(package)
            assert spec is not None
            for folder in map(Path, spec.submodule_search_locations or ()):
                for file in sorted(folder.rglob("*")):
                    if file.is_file() and file.suffix != ".pyc":
                        code.write(file, Path(package) / file.relative_to(folder))
    return path

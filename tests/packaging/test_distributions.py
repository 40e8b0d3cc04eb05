"""What `uv build` makes: all of the packages and nothing else, and a wheel that runs from another folder.

How it is told: `uv build` makes the source distribution first and the wheel out of that, so both are looked at.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from model.cluster.snapshot_file import write_snapshot
from tests.tui.data.small_cluster import small_image

SOURCES = Path(__file__).parents[2]
PACKAGES = ("model", "spark_tasks", "tui")
UNREACHED = "build-system.requires"
"""uv says so where the build's own requirements cannot be had: there is no network, and they were never fetched."""
BUILT_S = 240


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both distributions. Skips without uv, or without what it builds with."""
    folder = tmp_path_factory.mktemp("built")
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    command = [uv, "build", "--quiet", "--no-progress", "--out-dir", str(folder), str(SOURCES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILT_S, check=False)
    if done.returncode and UNREACHED in done.stderr:
        pytest.skip("hatchling, which builds kdrill, cannot be fetched")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    (path,) = built.glob("*.whl")
    return zipfile.ZipFile(path)


def of_packages() -> set[str]:
    """Every file of ours that the program may want, data files too, relative to the sources."""
    files = (file for package in PACKAGES for file in (SOURCES / package).rglob("*") if file.is_file())
    return {str(file.relative_to(SOURCES)) for file in files if "__pycache__" not in file.parts}


def test_the_wheel_has_the_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == of_packages()
    assert {"tui/app/kdrill.tcss", "tui/cli/page.html"} <= names
    said = {name.rpartition("/")[2]: wheel.read(name).decode() for name in wheel.namelist() if ".dist-info/" in name}
    assert "kdrill = tui.cli:main" in said["entry_points.txt"]
    assert "Requires-Python: >=3.11" in said["METADATA"]
    assert "Apache License" in said["LICENSE"]


def test_the_source_distribution_has_what_it_takes_to_build_and_to_test(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"pyproject.toml", "uv.lock", "README.md", "CONTRIBUTING.md", "LICENSE", "tests/conftest.py"}
    assert needed | of_packages() <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".git/", ".venv/"))]


def test_the_wheel_runs_from_another_folder(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    wheel.extractall(site)
    elsewhere.mkdir()
    write_snapshot(elsewhere / "small.json", small_image(), ())

    def ran(program: str, *arguments: str) -> str:
        """What it printed; it is to end well, whatever the cluster is like."""
        command = [sys.executable, "-P", "-c", program, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 2) and not done.stderr, done.stderr
        return done.stdout

    kdrill = "from tui.cli import main; main()"
    where = ran("import model, spark_tasks, tui; print(model.__file__, spark_tasks.__file__, tui.__file__)")
    assert all(place.startswith(str(site)) for place in where.split())
    assert ran(kdrill, "--version").startswith("kdrill, version ")
    assert "5 brokers" in ran(kdrill, "status", "small.json")
    assert "what if broker 2 failed" in ran(kdrill, "drill", "small.json", "--kill", "2")

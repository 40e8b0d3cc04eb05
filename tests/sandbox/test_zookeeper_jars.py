"""ZooKeeper's jars are found among PySpark's without importing it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import model
from model.sandbox.java import NEEDED, zookeeper_jars
from model.sandbox.processes import SandboxError

PROJECT = Path(model.__file__).parents[1]


def test_pyspark_has_them_all():
    jars = zookeeper_jars()
    assert len(jars) == len(NEEDED)
    assert all(jar.is_file() and jar.name.startswith(f"{name}-") for jar, name in zip(jars, NEEDED, strict=True))
    assert len(set(jars)) == len(jars)


def test_the_newest_of_two(tmp_path: Path):
    for name in NEEDED:
        (tmp_path / f"{name}-1.0.jar").touch()
    (tmp_path / "zookeeper-1.1.jar").touch()
    assert [jar.name for jar in zookeeper_jars(tmp_path)][:2] == ["zookeeper-1.1.jar", "zookeeper-jute-1.0.jar"]


def test_absent_ones_are_named(tmp_path: Path):
    for name in NEEDED[:3]:
        (tmp_path / f"{name}-1.0.jar").touch()
    with pytest.raises(SandboxError, match=r"lacks the jar of metrics-core, snappy-java\. Reinstall pyspark"):
        zookeeper_jars(tmp_path)


def run_python(*arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_pyspark_is_not_imported():
    code = "import sys; from model.sandbox.java import *; zookeeper_jars(); print('pyspark' in sys.modules)"
    assert run_python("-c", code) == "False\n"


def test_without_pyspark():
    # -S leaves out the folder of installed packages.
    code = "from model.sandbox.java import *\ntry: zookeeper_jars()\nexcept Exception as error: print(error)"
    said = run_python("-S", "-c", code)
    assert said == "pyspark is not installed, and ZooKeeper comes out of its jars. Install pyspark 4.\n"

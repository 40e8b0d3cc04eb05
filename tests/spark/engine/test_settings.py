"""What a session is told, for which master."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from spark_tasks.messages import SparkOptions
from spark_tasks.session.java_process import as_spark_takes_it, environment_of, is_local, is_on_loopback, settings_of


@pytest.mark.parametrize(
    ("master", "taken", "local", "loopback"),
    [
        ("local", "local[1,4]", True, True),
        ("local[*]", "local[*,4]", True, True),
        ("local[2]", "local[2,4]", True, True),
        ("local[2,1]", "local[2,1]", True, True),
        ("spark://127.0.0.1:7077", "spark://127.0.0.1:7077", False, True),
        ("spark://one:7077,two:7077", "spark://one:7077,two:7077", False, False),
        ("yarn", "yarn", False, False),
        ("k8s://https://host:6443", "k8s://https://host:6443", False, False),
    ],
)
def test_masters(master: str, taken: str, local: bool, loopback: bool, tmp_path: Path):
    assert (as_spark_takes_it(master), is_local(master), is_on_loopback(master)) == (taken, local, loopback)
    settings = settings_of(SparkOptions(master=master), tmp_path, [])
    assert settings["spark.master"] == taken
    # A remote executor has to find the way back, which is not over loopback.
    assert ("spark.driver.host" in settings) is loopback


def test_the_user_s_settings_win(tmp_path: Path):
    options = SparkOptions(settings={"spark.ui.enabled": "true", "spark.executor.memory": "4g"})
    settings = settings_of(options, tmp_path, [])
    assert settings["spark.ui.enabled"] == "true"
    assert settings["spark.executor.memory"] == "4g"


def test_flags_with_spaces_stay_whole(tmp_path: Path):
    settings = settings_of(SparkOptions(), tmp_path, ["-XX:SharedArchiveFile=/home/a b/c.jsa"])
    assert '"-XX:SharedArchiveFile=/home/a b/c.jsa"' in settings["spark.driver.extraJavaOptions"]


def test_the_environment_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("JAVA_TOOL_OPTIONS", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.setenv(name, "--surprise")
    monkeypatch.setenv("SPARK_HOME", "/opt/another")
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")
    monkeypatch.setenv("PYTHONPATH", "/opt/more")
    local = environment_of(SparkOptions(), tmp_path / "java", tmp_path / "spark")
    assert not {"JAVA_TOOL_OPTIONS", "PYSPARK_SUBMIT_ARGS"} & local.keys()
    assert (local["SPARK_HOME"], local["JAVA_HOME"]) == (str(tmp_path / "spark"), str(tmp_path / "java"))
    assert local["PYSPARK_PYTHON"] == sys.executable
    ours, more = local["PYTHONPATH"].split(os.pathsep)
    assert (Path(ours) / "spark_tasks" / "registry.py").exists()
    assert more == "/opt/more"
    remote = environment_of(SparkOptions(master="yarn"), tmp_path, tmp_path)
    assert remote["PYSPARK_PYTHON"] == "/opt/python"
    assert remote["PYTHONPATH"] == "/opt/more"

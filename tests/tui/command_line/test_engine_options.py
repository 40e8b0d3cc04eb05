"""Where a command computes: `--engine` and `--spark-master`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from spark_tasks.engines import engines_of, run_once
from spark_tasks.spark_client import Engine
from tests.benchmarks.process_memory import descendants
from tests.spark.engine.sums import SUMS, SumsParameters
from tui.cli.options import compute, takes_engine

ARRAYS = {"values": np.arange(1000)}


@click.command()
@takes_engine
@click.option("--slices", type=int, default=10)
def sums(engine: Engine, slices: int) -> None:
    """A command that computes."""
    outcome = compute(engine, SUMS, ARRAYS, SumsParameters(slices=slices))
    click.echo(f"{outcome.engine}: {len(outcome.result.sums)}")


def run(*arguments: str) -> Any:
    return CliRunner().invoke(sums, arguments)


@pytest.mark.parametrize(
    ("engine", "wanted"),
    [
        (Engine(), "auto"),
        (Engine(master="local[2]"), "spark"),
        (Engine("here"), "here"),
        (Engine("spark"), "spark"),
    ],
)
def test_who_names_a_master_means_spark(engine: Engine, wanted: str):
    assert engine.wanted == wanted


@pytest.mark.parametrize("arguments", [(), ("--engine", "auto"), ("--engine", "here")])
def test_here(arguments: tuple[str, ...]):
    done = run(*arguments)
    assert (done.exit_code, done.output) == (0, "in process: 10\n")


def test_on_spark():
    done = run("--spark-master", "local[2]")
    assert (done.exit_code, done.output) == (0, "spark local[2]: 10\n")


def test_progress_is_told_in_words():
    told: list[str] = []
    assert run_once(SUMS, ARRAYS, SumsParameters(), Engine("here"), told=told.append).engine == "in process"
    assert told[0] == "0 of 8 tasks"
    assert told[-1] == "8 of 8 tasks"


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("--slices", "-1"), 1, "Error: -1 slices: give 0 or more"),
        (("--spark-master", "spork"), 1, "Error: --spark-master 'spork': no master is written so; write local[2]"),
        (("--engine", "here", "--spark-master", "yarn"), 2, "--engine here and --spark-master exclude each other"),
        (("--engine", "abacus"), 2, "Invalid value for '--engine'"),
    ],
)
def test_what_cannot_be(arguments: tuple[str, ...], code: int, error: str):
    done = run(*arguments)
    assert done.exit_code == code
    assert error in done.output
    assert "Traceback" not in done.output


INTERRUPTED = """
import sys
import numpy as np
from spark_tasks.engines import run_once
from spark_tasks.spark_client import Engine
from tests.spark.engine.sums import SUMS, SumsParameters
def told(text):
    print(text, file=sys.stderr, flush=True)
run_once(SUMS, {"values": np.arange(9)}, SumsParameters(), Engine(master="local[2]"), told=told)
"""


async def test_a_commands_spark_leaves_the_machine_to_what_others_wait_for():
    """Java and its workers, too; the command itself does not stand back."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    async with engines_of(Engine(master="local[1]"), lambda _: None, None) as engines:
        await engines.run(SUMS, ARRAYS, SumsParameters(), tag="polite", told=lambda _: None, kind="spark")
        (spark, java) = engines.status.pids
        every = [spark, java, *descendants(java)]
        assert len(every) > 3  # Java's script is Java by now; Python's daemon and a worker are below it
        assert {os.getpriority(os.PRIO_PROCESS, pid) for pid in every} == {min(own + 10, 19)}
    assert os.getpriority(os.PRIO_PROCESS, 0) == own


def test_an_interrupt_ends_it(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "starting Spark on local[2], 0 s\n"
        os.kill(process.pid, signal.SIGINT)
        process.wait(60)
    assert process.returncode == -signal.SIGINT
    assert not list(tmp_path.iterdir())

"""What is really loaded, seen from inside a fresh interpreter: contracts read the source and cannot see when."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.source_tree import dotted, modules

DATA_PROCESS_ONLY = frozenset(
    {"highspy", "kazoo", "kio", "networkx", "numpy", "pandas", "plotext", "pyarrow", "pyspark", "scipy", "zstandard"}
)
"""What the UI process must do without, so that it starts fast and stays quick."""

TERMINAL = frozenset({"plotext", "rich", "textual"})

UI_PROCESS = "import tui.cli.open, tui.app.app, tui.engine.link"
COMMAND = "from tui.cli import main\ntry: main(['{}'])\nexcept SystemExit: pass"
DATA_PROCESS = "import tui.engine.__main__, tui.engine.process"
OF_THE_SANDBOX = (
    "model.hosts.live_broker",
    "model.hosts.live_controller",
    "model.hosts.zookeeper_consumer",
    "model.sandbox.control",
    "model.sandbox.load",
)
"""Programs that speak Kafka's protocol: by kio, or as clients by librdkafka."""
BY_LIBRDKAFKA = ("model.hosts.zookeeper_consumer", "model.sandbox.load")

BROKER = f"import {OF_THE_SANDBOX[0]}.__main__"
EVERY_MODEL_MODULE = f"import {', '.join(map(dotted, modules('model')))}"


def loaded_by(statements: str) -> set[str]:
    """Top-level packages in memory after these statements."""
    program = f"{statements}\nimport sys\nprint('loaded:', *{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("loaded:")[2].split())


@pytest.mark.parametrize(
    ("statements", "unwanted"),
    [
        pytest.param(UI_PROCESS, DATA_PROCESS_ONLY, id="the-ui-process"),
        pytest.param(COMMAND.format("--version"), DATA_PROCESS_ONLY | TERMINAL, id="kdrill-version"),
        pytest.param(COMMAND.format("--help"), DATA_PROCESS_ONLY | TERMINAL, id="kdrill-help"),
        pytest.param(COMMAND.format("doctor"), DATA_PROCESS_ONLY | TERMINAL, id="kdrill-doctor"),
        pytest.param(COMMAND.format("keys"), DATA_PROCESS_ONLY | TERMINAL, id="kdrill-keys"),
        pytest.param(
            DATA_PROCESS,
            {"highspy", "kio", "networkx", "pandas", "plotext", "pyarrow", "pyspark", "scipy", "textual"},
            id="the-data-process",
        ),
        pytest.param(BROKER, TERMINAL | DATA_PROCESS_ONLY - {"kazoo", "kio"}, id="a-broker"),
        pytest.param(
            EVERY_MODEL_MODULE, TERMINAL | {"networkx", "pandas", "pyspark", "scipy"}, id="every-module-of-model"
        ),
    ],
)
def test_nothing_is_loaded_before_it_is_needed(statements: str, unwanted: frozenset[str]) -> None:
    loaded = loaded_by(statements)
    assert "tui" in loaded or "model" in loaded
    assert not loaded & unwanted


@pytest.mark.parametrize("program", OF_THE_SANDBOX)
def test_no_program_loads_what_only_tests_need(program: str) -> None:
    loaded = loaded_by(f"import {program}.__main__")
    assert ("confluent_kafka" if program in BY_LIBRDKAFKA else "kio") in loaded
    assert "hypothesis" not in loaded

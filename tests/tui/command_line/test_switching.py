"""What `C` offers: a sandbox leads to one of the other mode, of the same size, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from model.sandbox.options import Mode, SandboxOptions
from tui.cli.open import contexts_of
from tui.engine.config import Config
from tui.engine.messages import Opening

CONFIG = Config(Path("config.toml"))


@pytest.mark.parametrize(
    ("mode", "own", "other", "more"),
    [
        ("zookeeper", "sandbox", "sandbox-kraft", {"zookeepers": 3, "old_consumers": 2, "zookeeper_port": 2181}),
        ("kraft", "sandbox-kraft", "sandbox", {"controllers": 5, "controller_port": 9093}),
    ],
)
def test_a_sandbox_leads_to_one_of_the_other_mode(mode: Mode, own: str, other: str, more: dict[str, Any]) -> None:
    options = SandboxOptions(mode=mode, brokers=5, load=True, rate=7.0, folder="lab", keep=True, **more)
    first = Opening(sandbox=options, spark_master="local[2]")
    contexts = contexts_of(first, CONFIG)
    assert list(contexts) == [own, other]
    assert contexts[own]() is first
    found = contexts[other]()
    assert found.spark_master == "local[2]"
    assert found.sandbox == SandboxOptions(
        mode="kraft" if mode == "zookeeper" else "zookeeper", brokers=5, load=True, rate=7.0
    )


@pytest.mark.parametrize(
    "opening",
    [
        Opening(source="zk://zk1:2181/kafka"),
        Opening(is_demo=True),
        Opening(sandbox=SandboxOptions(scenario="drill.toml")),
    ],
)
def test_nothing_else_does(opening: Opening) -> None:
    assert len(contexts_of(opening, CONFIG)) == 1

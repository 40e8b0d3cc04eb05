"""By which way a cluster is acted on: its ZooKeeper, or brokers that are named; KRaft controllers take nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.actions.proposal import ActionRefused
from model.sandbox.options import SandboxOptions
from tui.engine.messages import Opening
from tui.engine.process import acting_in_sandbox
from tui.engine.way_in import route_of


def test_a_sandbox_is_acted_on_through_its_zookeeper_and_in_kraft_mode_through_its_brokers() -> None:
    with_zookeeper = Opening(source="zk://127.0.0.1:2181", bootstrap="127.0.0.1:9092")
    assert route_of(acting_in_sandbox(with_zookeeper)) == "zookeeper"
    kraft = Opening(
        source="controllers://127.0.0.1:9093", bootstrap="127.0.0.1:9092", sandbox=SandboxOptions(mode="kraft")
    )
    assert route_of(acting_in_sandbox(kraft)) == "admin"


def test_controllers_alone_and_files_are_only_read(tmp_path: Path) -> None:
    file = tmp_path / "seen.json"
    file.touch()
    with pytest.raises(ActionRefused, match="name brokers by --bootstrap"):
        route_of(Opening(source="controllers://127.0.0.1:9093"))
    with pytest.raises(ActionRefused, match="no live cluster"):
        route_of(Opening(source=str(file)))

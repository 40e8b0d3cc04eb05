"""Where nobody was asked who knows the groups that brokers coordinate, it is not said that there are none."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

import pytest

from model.consumers.ownership import NOT_ASKED
from model.sandbox.embedded_zookeeper import ZnodeSession
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.zookeeper import Create
from tests.harness.command import failure, kdrill
from tests.tui.dashboard import opened, press, settled, text, until

BROKER = {"version": 5, "host": "b1", "port": 1, "jmx_port": -1, "timestamp": "1", "endpoints": ["PLAINTEXT://b1:1"]}


@pytest.fixture
def modern(still_server: EmbeddedZooKeeper) -> Iterator[str]:
    """`host:port/root` of a cluster whose groups, if it has any, are its brokers'."""
    root = f"/modern-{uuid.uuid4().hex[:12]}"
    session = ZnodeSession(still_server.address, root)
    session.make_path("/brokers/ids")
    session.make_path("/brokers/topics")
    session.apply([Create("/brokers/ids/1", json.dumps(BROKER).encode())])
    yield f"{still_server.address}{root}"
    session.close()


async def test_consumers_and_lab_say_that_brokers_were_not_asked(modern: str) -> None:
    async with opened(modern, size=(140, 30)) as pilot:
        await press(pilot, "4")
        assert NOT_ASKED in text(pilot)
        await press(pilot, "5")
        await settled(pilot)
        await until(pilot, lambda: "asked for theirs:" in text(pilot) and "--bootstrap host:port" in text(pilot))


def test_a_preview_says_so_too(modern: str) -> None:
    done = kdrill("preview", f"zk://{modern}")
    assert done.stdout == f"zk://{modern}: {NOT_ASKED}\n"
    assert NOT_ASKED in failure(kdrill("preview", f"zk://{modern}", "--group", "g"))

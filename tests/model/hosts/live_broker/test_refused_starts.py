"""Brokers that cannot start say why in one line, and end with 1."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.harness.host_processes import BrokerProcess
from tests.harness.zookeeper import kazoo


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@contextmanager
def registered(zookeeper: str, broker: int) -> Iterator[Callable[[], None]]:
    """Somebody else under this id, until the end or until the function is called."""
    path = f"/brokers/ids/{broker}"
    with kazoo(zookeeper) as client:
        client.create(path, b"{}", ephemeral=True, makepath=True)
        yield lambda: client.delete(path)


def test_what_is_wrong_is_told_in_the_last_line(zookeeper: str, tmp_path: Path, stack: ExitStack) -> None:
    taken = stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
    cases: list[tuple[BrokerProcess, tuple[str, ...], str]] = []

    def case(number: int, said: str, *overrides: str, more: str = "") -> BrokerProcess:
        broker = BrokerProcess(tmp_path, zookeeper, number, more)
        stack.callback(broker.kill)
        cases.append((broker, overrides, said))
        return broker

    case(1, r"num.partitions takes a whole number from 1 to 2147483647, not 'many'", "num.partitions=many")
    case(2, r"address already in use", f"listeners=PLAINTEXT://127.0.0.1:{taken}")
    case(3, r"ZooKeeper address 'a:b:c'", "zookeeper.connect=a:b:c")
    other = case(4, r"broker.id is 4, but meta.properties in .* says 7: name other log.dirs, or that id")
    (other.folder / "logs").mkdir()
    (other.folder / "logs" / "meta.properties").write_text("#\nversion=0\nbroker.id=7\n")
    missing = case(5, r"server.properties: No such file or directory")
    missing.properties.unlink()
    with_id_6 = case(
        6, r"another broker is registered under id 6: set another broker.id", "zookeeper.session.timeout.ms=1000"
    )
    stack.enter_context(registered(zookeeper, with_id_6.id))
    for broker, overrides, _ in cases:
        broker.start(*overrides)
    for broker, _, said in cases:
        broker.wait_for(said)
        assert broker.exit_code() == 1
        assert re.search(f"^kdrill broker: .*{said}", broker.log.splitlines()[-1]), broker.log
        assert "Traceback" not in broker.log


def test_an_earlier_life_of_the_same_broker_is_waited_for(zookeeper: str, tmp_path: Path, stack: ExitStack) -> None:
    """Its registration goes with its session, which outlives a broker that was killed."""
    broker = BrokerProcess(tmp_path, zookeeper, 1)
    stack.callback(broker.kill)
    end = stack.enter_context(registered(zookeeper, 1))
    broker.start("zookeeper.session.timeout.ms=30000")
    broker.wait_for("id 1 is still registered, perhaps by an earlier life: waiting for its end")
    end()
    assert broker.ready()["broker_id"] == 1

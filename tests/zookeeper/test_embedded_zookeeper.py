"""The embedded ZooKeeper: it serves, survives a restart, says what hinders it, and is never left behind."""

import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple

from model.hosts.memory_zookeeper.state import answer, new_server, open_session, session_password
from model.sandbox.embedded_zookeeper import ZnodeSession
from model.sandbox.java import Java
from model.sandbox.processes import SandboxError, ServerDiedError
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions, ask_four_letters, server_status
from model.zookeeper import Create, Delete, SetData
from tests.harness.waiting import eventually
from tests.harness.zookeeper import kazoo

SESSION_S = 60.0
HOSTS = 12


def kazoo_client(server: EmbeddedZooKeeper) -> AbstractContextManager[Any]:
    """With a session that outlives the restart of a server on a busy machine.

    A server that is ending may swallow the greeting; kazoo waits for the answer as long as a host's part of that time.
    """
    retry = {"max_tries": -1, "delay": 0.05, "max_delay": 0.5}
    return kazoo(",".join([server.address] * HOSTS), timeout=SESSION_S, connection_retry=retry)


def test_it_serves_on_loopback_only(own_zookeeper: EmbeddedZooKeeper):
    assert own_zookeeper.address == f"127.0.0.1:{own_zookeeper.port}"
    assert server_status(("127.0.0.1", own_zookeeper.port))
    with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
        ask_four_letters(("127.0.0.2", own_zookeeper.port), "ruok")


def test_it_begins_as_a_server_in_memory_was(tmp_path: Path):
    state, session = open_session(new_server(), 20_000)
    for at_ms, write in enumerate(
        (
            Create("/a", "ä".encode()),
            Create("/a/own", b"mine", ephemeral=True),
            Create("/a/n-", sequential=True),
            Create("/a/n-", sequential=True),
            Delete("/a/n-0000000001"),
            SetData("/a", b""),
            Create("/a/b"),
            Create("/a/b/c", b"\0" * 1000),
        ),
        1_700_000_000_000,
    ):
        done = answer(state, session, write, at_ms)
        assert done.answer.ok
        state = done.state
    with EmbeddedZooKeeper(tmp_path, begins_with=state) as server:
        with kazoo(server.address, client_id=(session, session_password(session))) as client:
            assert client.client_id[0] == session
            for path in ("/a", "/a/own", "/a/n-0000000002", "/a/b", "/a/b/c"):
                node, (data, stat) = state.tree.get(path), client.get(path)
                assert node is not None
                assert (node.data, astuple(node.stat)) == (data, tuple(stat))
            assert client.create("/a/n-", sequence=True) == "/a/n-0000000004"
            assert client.get("/a")[1].pzxid == state.zxid + 1
        server.kill()
        server.start()  # the snapshot is what it began with, and not what it has now
        with kazoo_client(server) as other:
            assert other.exists("/a/own") is None
            assert other.exists("/a/n-0000000004")


End = Callable[[EmbeddedZooKeeper], object]


@pytest.mark.parametrize("end", [EmbeddedZooKeeper.kill, EmbeddedZooKeeper.stop])
def test_it_comes_back_as_it_was(own_zookeeper: EmbeddedZooKeeper, is_gone, end: End):
    with kazoo_client(own_zookeeper) as client:
        client.create("/kept", b"data")
        client.create("/mine", ephemeral=True)
        address, pid, session = own_zookeeper.address, own_zookeeper.pid, client.client_id
        end(own_zookeeper)
        assert not own_zookeeper.is_running
        assert is_gone(pid)
        own_zookeeper.start()
        assert own_zookeeper.address == address
        assert own_zookeeper.pid != pid
        eventually(lambda: client.connected)
        assert client.client_id == session
        assert client.get("/kept")[0] == b"data"
        assert client.exists("/mine")


def test_stop_says_whether_the_server_ended_by_itself(own_zookeeper: EmbeddedZooKeeper):
    assert own_zookeeper.stop()
    assert own_zookeeper.stop()


def test_a_paused_server_answers_nothing_until_it_goes_on(own_zookeeper: EmbeddedZooKeeper):
    address = ("127.0.0.1", own_zookeeper.port)
    own_zookeeper.pause()
    assert own_zookeeper.is_running
    assert server_status(address, timeout_s=0.2) is None
    own_zookeeper.resume()
    eventually(lambda: server_status(address))


def test_a_paused_server_can_be_stopped(own_zookeeper: EmbeddedZooKeeper):
    own_zookeeper.pause()
    assert own_zookeeper.stop()


def test_starting_twice_is_starting_once(own_zookeeper: EmbeddedZooKeeper):
    pid = own_zookeeper.pid
    assert own_zookeeper.start() is own_zookeeper
    assert own_zookeeper.pid == pid


def test_a_server_that_is_not_there():
    server = EmbeddedZooKeeper()
    assert not server.is_running
    for use in (server.pause, server.resume, lambda: server.pid):
        with pytest.raises(SandboxError, match="not running"):
            use()
    server.kill()
    server.stop()
    server.close()


def test_close_leaves_nothing_of_a_temporary_folder(own_zookeeper: EmbeddedZooKeeper, is_gone):
    folder, pid = own_zookeeper.folder, own_zookeeper.pid
    assert folder is not None
    assert folder.is_dir()
    own_zookeeper.close()
    assert is_gone(pid)
    assert not folder.exists()


def test_a_given_folder_stays_and_can_be_used_again(tmp_path: Path):
    folder = tmp_path / "süß und \\ sauer"
    with EmbeddedZooKeeper(folder) as server, kazoo_client(server) as client:
        client.create("/kept", b"data")
    with EmbeddedZooKeeper(folder) as server, kazoo_client(server) as client:
        assert client.get("/kept")[0] == b"data"
    assert sorted(file.name for file in folder.iterdir()) == ["data", "zoo.cfg", "zookeeper.log"]


def test_two_servers_at_once(own_zookeeper: EmbeddedZooKeeper):
    with EmbeddedZooKeeper() as other:
        assert other.port != own_zookeeper.port
        assert other.pid != own_zookeeper.pid
        assert other.folder != own_zookeeper.folder
        own_zookeeper.kill()
        assert server_status(("127.0.0.1", other.port))


def test_options_reach_the_server():
    options = ServerOptions(
        tick_time_ms=250,
        min_session_timeout_ms=700,
        max_session_timeout_ms=7_000,
        max_client_connections=7,
        jute_maxbuffer_bytes=20_000,
        extra={"snapCount": "5000"},
    )
    with EmbeddedZooKeeper(options=options) as server:
        configuration = ask_four_letters(("127.0.0.1", server.port), "conf").splitlines()
        session = ZnodeSession(server.address)
        session.apply([Create("/small", b"x" * 10_000)])
        with pytest.raises(SandboxError, match="ConnectionLoss"):
            session.apply([Create("/large", b"x" * 30_000)])
        session.close()
    assert {"tickTime=250", "maxClientCnxns=7", "minSessionTimeout=700", "maxSessionTimeout=7000"} <= {*configuration}


def test_a_chosen_port(own_zookeeper: EmbeddedZooKeeper):
    own_zookeeper.kill()
    with EmbeddedZooKeeper(port=own_zookeeper.port) as other:
        assert other.port == own_zookeeper.port
        with pytest.raises(SandboxError, match=rf"^port {other.port} is taken by another program\."):
            own_zookeeper.start()


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("KDRILL_JAVA", str(tmp_path / "java"))
    with pytest.raises(SandboxError, match=r"^no working Java at .*KDRILL_JAVA.*Install Java 17"):
        EmbeddedZooKeeper().start()


def test_a_folder_that_can_not_be_made(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(
        SandboxError, match=rf"^can't write to {tmp_path}/file/zookeeper\S*: Not a directory\. Choose a"
    ):
        EmbeddedZooKeeper(tmp_path / "file" / "zookeeper").start()


def test_a_folder_that_is_not_writable(tmp_path: Path):
    (tmp_path / "zoo.cfg").mkdir()
    with pytest.raises(SandboxError, match=rf"^can't write to {tmp_path}/zoo.cfg: Is a directory\."):
        EmbeddedZooKeeper(tmp_path).start()


def died(server: EmbeddedZooKeeper) -> str:
    with pytest.raises(ServerDiedError) as error:
        server.start()
    assert not server.is_running
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_server_refuses_its_settings():
    server = EmbeddedZooKeeper(options=ServerOptions(extra={"tickTime": "soon"}))
    assert died(server) == (
        "ZooKeeper ended as it started: it refuses its settings (exit code 2); "
        "its log ends with: Invalid config, exiting abnormally."
    )


def test_the_server_can_not_use_its_data(tmp_path: Path):
    (tmp_path / "file").touch()
    server = EmbeddedZooKeeper(options=ServerOptions(extra={"dataDir": str(tmp_path / "file" / "data")}))
    assert "it can't use its data folder (exit code 3)" in died(server)


def test_java_refuses_its_flags():
    assert "(exit code 1); its log ends with: " in died(EmbeddedZooKeeper(java_flags=["-Xmx1"]))


def test_java_can_not_be_run(tmp_path: Path):
    server = EmbeddedZooKeeper(java=Java(tmp_path / "java", "17", "PATH"))
    assert "Java can't be run (exit code 127)" in died(server)


def test_jars_without_zookeeper(tmp_path: Path):
    assert "QuorumPeerMain" in died(EmbeddedZooKeeper(jars=[tmp_path / "zookeeper-3.9.5.jar"]))


OWNER = """
import sys
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
server = EmbeddedZooKeeper().start()
print(server.pid, server.folder, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_it_does_not_outlive_its_owner(is_gone, end: signal.Signals):
    command = [sys.executable, "-c", OWNER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid, folder = owner.stdout.readline().split()
        assert not is_gone(int(pid))
        owner.send_signal(end)
    eventually(lambda: is_gone(int(pid)))
    eventually(lambda: not Path(folder).exists())


def test_each_test_has_an_empty_root(zookeeper: str):
    with kazoo(zookeeper) as client:
        assert client.get_children("/") == []

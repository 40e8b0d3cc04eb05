"""Which ports a process listens on, and which are free."""

import os
import socket
import subprocess
import sys

import pytest

from model.sandbox.processes import SandboxError, free_port, listening_ports


def test_a_listening_process_is_seen():
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert server.getsockname()[1] in listening_ports(os.getpid())


def test_connections_do_not_count():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        with socket.create_connection(address) as client:
            assert client.getsockname()[1] not in listening_ports(os.getpid())


def test_somebody_elses_port_does_not_count():
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with other, socket.create_server(("127.0.0.1", 0)):
        assert listening_ports(other.pid) == frozenset()


def test_a_process_that_is_gone():
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert listening_ports(process.pid) == frozenset()


def test_a_free_port_is_given():
    port = free_port(0)
    assert free_port(port) == port


def test_a_taken_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(SandboxError, match=rf"^port {port} is taken by another program\. Choose another one"):
            free_port(port)


@pytest.mark.parametrize("port", [-1, 65536])
def test_no_port_at_all(port: int):
    with pytest.raises(SandboxError, match=rf"^port {port} can't be used: .*0-65535"):
        free_port(port)

"""Somebody else's session, ended behind its back on a real server, as if it had expired."""

import asyncio

import pytest
from kazoo.client import KazooClient, KazooState

from model.sandbox.link_proxy import Proxy, Valve
from model.sandbox.switchboard import end_session, session_in
from tests.harness.waiting import eventually_async


async def test_a_session_that_passed_a_proxy_is_ended(zookeeper: str):
    host, port = zookeeper.partition("/")[0].split(":")
    root = "/" + zookeeper.partition("/")[2]
    valve = Valve()
    proxy = Proxy(lambda _: valve)
    await proxy.start()
    proxy.lead_to(host, int(port))
    client = KazooClient(proxy.address, timeout=60)
    seen: list[str] = []
    client.add_listener(seen.append)
    await asyncio.to_thread(client.start, 60)
    await asyncio.to_thread(client.create, f"{root}/alive", b"", ephemeral=True)
    passage = next(iter(proxy.passages))
    session = session_in(passage.greeting)
    assert session is not None
    assert (session.id, session.password) == client.client_id

    assert await end_session(session, host, int(port))
    assert not await end_session(session, host, int(port))
    proxy.end(passage)
    await eventually_async(lambda: KazooState.LOST in seen)
    await eventually_async(lambda: client.connected)
    assert await asyncio.to_thread(client.exists, f"{root}/alive") is None
    await asyncio.to_thread(client.stop)
    client.close()
    await proxy.close()


@pytest.mark.parametrize("greeting", [b"", b"\0" * 64, b"\0\0\0\x25" + b"\xff" * 60, b"HTTP/1.1 400 Bad Request" * 3])
def test_other_bytes_tell_of_no_session(greeting: bytes):
    assert session_in(greeting) is None

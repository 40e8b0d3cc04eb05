"""Proxies between two ends on loopback: what passes, what stalls, what is closed, and that nothing is lost."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator

import pytest

from model.sandbox.link_proxy import ProxiedConnection, Proxy, Valve, ValvesInTurn
from model.sandbox.switchboard import CLIENT, REPLICATION, Switchboard
from tests.harness.waiting import eventually_async

SOON_S = 60


@pytest.fixture
async def echo() -> AsyncIterator[int]:
    """A server that sends back what it gets; its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


@pytest.fixture
async def valve() -> Valve:
    return Valve()


@pytest.fixture
async def proxy(valve: Valve, echo: int) -> AsyncIterator[Proxy]:
    proxy = Proxy(lambda _: valve)
    await proxy.start()
    proxy.lead_to("127.0.0.1", echo)
    yield proxy
    await proxy.close()


async def connect(proxy: Proxy) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", proxy.port)


async def said_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> bytes:
    writer.write(data)
    return await asyncio.wait_for(reader.readexactly(len(data)), SOON_S)


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return not await asyncio.wait_for(reader.read(1), SOON_S)
    except ConnectionResetError:
        return True


async def test_bytes_pass_both_ways(proxy: Proxy):
    reader, writer = await connect(proxy)
    much = bytes(range(256)) * 40_000
    echoed = asyncio.create_task(reader.readexactly(len(much)))
    writer.write(much)
    assert await asyncio.wait_for(echoed, SOON_S) == much
    writer.close()


async def test_the_end_of_one_side_is_the_end_of_the_other(proxy: Proxy):
    _, writer = await connect(proxy)
    await eventually_async(lambda: len(proxy.passages) == 1)
    writer.close()
    await eventually_async(lambda: not proxy.passages)


async def test_a_cut_link_stalls_what_is_open_and_loses_nothing(proxy: Proxy, valve: Valve):
    reader, writer = await connect(proxy)
    assert await said_back(reader, writer, b"before") == b"before"
    valve.cut()
    writer.write(b"during")
    waiting = asyncio.create_task(reader.readexactly(6))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(waiting), 0.1)
    valve.heal()
    assert await asyncio.wait_for(waiting, SOON_S) == b"during"
    writer.close()


async def test_a_cut_link_closes_new_connections(proxy: Proxy, valve: Valve):
    valve.cut()
    reader, writer = await connect(proxy)
    assert await is_closed(reader)
    valve.heal()
    reader, writer = await connect(proxy)
    assert await said_back(reader, writer, b"again") == b"again"
    writer.close()


async def test_a_slow_link_delays_each_way(proxy: Proxy, valve: Valve):
    reader, writer = await connect(proxy)
    valve.slow(0.05)
    began = time.monotonic()
    assert await said_back(reader, writer, b"tick") == b"tick"
    assert time.monotonic() - began >= 0.1
    valve.heal()
    assert await said_back(reader, writer, b"tock") == b"tock"
    writer.close()


async def test_connections_wait_until_it_is_known_where_they_go(valve: Valve, echo: int):
    proxy = Proxy(lambda _: valve)
    await proxy.start()
    reader, writer = await connect(proxy)
    writer.write(b"early")
    proxy.lead_to("127.0.0.1", echo)
    assert await asyncio.wait_for(reader.readexactly(5), SOON_S) == b"early"
    await proxy.close()
    assert await is_closed(reader)


async def connected(proxy: Proxy) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """As soon as it listens."""
    async with asyncio.timeout(SOON_S):
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                return await connect(proxy)


async def is_refused(proxy: Proxy) -> bool:
    try:
        reader, _ = await connect(proxy)
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        return False  # it was about to listen no more
    assert await is_closed(reader)
    return False


async def test_while_the_server_is_gone_its_port_refuses_as_the_servers_own_would(proxy: Proxy, echo: int):
    reader, writer = await connect(proxy)
    assert await said_back(reader, writer, b"before") == b"before"
    for _ in range(3):
        proxy.lead_nowhere()
        while not await is_refused(proxy):
            pass
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", proxy.port))  # nobody else gets it meanwhile
        proxy.lead_to("127.0.0.1", echo)
        again, back = await connected(proxy)
        assert await said_back(again, back, b"again") == b"again"
        back.close()
    assert await said_back(reader, writer, b"after") == b"after"
    writer.close()


async def test_who_is_gone_and_back_at_once_is_reached(proxy: Proxy, echo: int):
    proxy.lead_nowhere()
    proxy.lead_to("127.0.0.1", echo)
    proxy.lead_nowhere()
    proxy.lead_to("127.0.0.1", echo)
    reader, writer = await connect(proxy)
    assert await said_back(reader, writer, b"here") == b"here"
    writer.close()


async def test_a_proxy_ends_while_it_refuses(valve: Valve):
    proxy = Proxy(lambda _: valve)
    await proxy.start()
    proxy.lead_nowhere()
    await proxy.close()
    with socket.socket() as other:
        other.bind(("127.0.0.1", proxy.port))  # its port is free
    assert await is_refused(proxy)


def first_request(client_id: str) -> bytes:
    header = b"\0\x12\0\x03\0\0\0\x07" + len(client_id).to_bytes(2, "big") + client_id.encode()
    return len(header).to_bytes(4, "big") + header


async def test_a_link_between_brokers_is_known_by_the_first_request(echo: int):
    links = Switchboard([1, 2, 3], 1)
    await links.start()
    to_three = links.listener(3, REPLICATION)
    to_three.lead_to("127.0.0.1", echo)
    links.listener(3, CLIENT).lead_to("127.0.0.1", echo)
    links.valve(("3", "1"))[1].cut()
    cut, from_one = await connect(to_three)
    from_one.write(first_request("broker-1-fetcher-0")[:9])
    from_one.write(first_request("broker-1-fetcher-0")[9:])
    assert await is_closed(cut)
    for proxy, client_id in ((to_three, "broker-2-fetcher-0"), (to_three, "7"), (links.listener(3, CLIENT), "app")):
        reader, writer = await connect(proxy)
        request = first_request(client_id)
        assert await said_back(reader, writer, request) == request
        writer.close()
    assert [view.between for view in links.views() if view.status != "open"] == [("1", "3")]
    await links.close()


async def test_a_controller_is_cut_off_from_others_of_its_kind_and_from_nobody_else(echo: int):
    links = Switchboard([1], 0, [101, 102, 103])
    await links.start()
    to_first = links.controller(101)
    to_first.lead_to("127.0.0.1", echo)

    async def passes(client_id: str) -> bool:
        reader, writer = await connect(to_first)
        request = first_request(client_id)
        writer.write(request)
        try:
            return await asyncio.wait_for(reader.readexactly(len(request)), SOON_S) == request
        except (ConnectionResetError, asyncio.IncompleteReadError):
            return False
        finally:
            writer.close()

    voters, others = ("kdrill-voter-102", "kdrill-voter-103"), ("broker-1-metadata", "kdrill")
    for cut, stopped in (
        (("101", "controllers"), set(voters)),
        (("102", "controllers"), {voters[0]}),
        (("101", "103"), {voters[1]}),
        (("1", "controllers"), {others[0]}),
    ):
        links.valve(cut)[1].cut()
        assert {each for each in (*voters, *others) if not await passes(each)} == stopped
        links.valve(cut)[1].heal()
    assert [each for each in (*voters, *others) if not await passes(each)] == []
    await links.close()


async def test_what_passes_several_valves_is_as_slow_as_all_and_open_once_all_are() -> None:
    first, second = Valve(), Valve()
    both = ValvesInTurn(first, second)
    first.slow(0.25)
    second.slow(0.5)
    assert (both.is_cut, both.delay_s) == (False, 0.75)
    first.cut()
    second.cut()
    first.heal()
    assert both.is_cut
    second.heal()
    assert (both.is_cut, both.delay_s) == (False, 0.0)


async def test_an_aborted_passage_is_forgotten_by_its_valve(proxy: Proxy, valve: Valve):
    reader, _ = await connect(proxy)
    await eventually_async(lambda: len(proxy.passages) == 1)
    passage: ProxiedConnection = next(iter(proxy.passages))
    proxy.end(passage)
    assert await is_closed(reader)
    assert not valve.connections

"""All links of a sandbox and the proxies they pass: where everybody is reached, and what can be cut, slowed, healed.

A place is the id of a broker or controller as text, `zookeeper`, `controllers` or `clients`. A link joins a broker and
any other place, both ways, or a controller and others of its kind. Who opened a connection between brokers, or to a
controller, is known by the client id of its first request. A broker here says `broker-N-…`, a controller
`kdrill-voter-N`. A Java broker says `broker-N-fetcher-M` where it fetches (ReplicaFetcherManager, 3.9) and only `N`
where it is the controller or asks it (ControllerChannelManager, NodeToControllerChannelManager), a Java controller
`raft-client-N` (KafkaRaftManager).

A ZooKeeper session of somebody else can be ended, as its expiry does: it belongs to whoever knows its id and
password. Both are in the server's first answer, which a proxy has seen (ConnectResponse and ClientCnxn, ZooKeeper 3.4
to 3.9).
"""

import asyncio
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

import msgspec

from model.hosts.kafka_client import address_of
from model.sandbox.faults import CLIENTS, CONTROLLERS, ZOOKEEPER
from model.sandbox.link_proxy import Pick, Proxy, Valve, ValvesInTurn
from model.sandbox.messages import LinkView
from model.sandbox.options import node_in_words
from model.sandbox.processes import SandboxError

_REQUEST_START = struct.Struct(">ihhih")
"""Size, api key, version, correlation id, and the client id's length: the same in every header but ControlledShutdown
v0, which no broker of ours or of the last ten years sends."""
_SOURCE = re.compile(rb"(?:broker-|kdrill-voter-|raft-client-)?(\d{1,10})(?:-|$)")


def source_node(received: bytes) -> str | None:
    """A broker's or controller's id; empty where a request comes from neither; None while more bytes are needed."""
    if len(received) < _REQUEST_START.size:
        return None
    length = _REQUEST_START.unpack_from(received)[-1]
    if length <= 0:
        return ""
    client_id = received[_REQUEST_START.size : _REQUEST_START.size + length]
    if len(client_id) < length:
        return None
    found = _SOURCE.match(client_id)
    return found[1].decode() if found else ""


Link = tuple[str, str]
"""In normal form: the lower node first, a node before what is none."""


def links_of(brokers: Iterable[int], controllers: Iterable[int] = ()) -> Iterator[Link]:
    """Every link among these brokers, which ascend, and around them; without controllers ZooKeeper is above them."""
    names, voters = [[str(node) for node in nodes] for nodes in (brokers, controllers)]
    yield from ((name, CONTROLLERS if voters else ZOOKEEPER) for name in names)
    yield from ((name, CLIENTS) for name in names)
    yield from combinations(names, 2)
    if len(voters) > 1:
        yield from ((name, CONTROLLERS) for name in voters)
    yield from combinations(voters, 2)


def link_between(between: tuple[str, str], known: Iterable[Link]) -> Link:
    """The normal form of a link that is known. Raises SandboxError for what is none."""
    links = set(known)
    places = [place.strip().removeprefix("broker-") for place in between]
    for link in ((places[0], places[1]), (places[1], places[0])):
        if link in links:
            return link
    above = next(other for _, other in links if other in (ZOOKEEPER, CONTROLLERS))
    brokers = sorted((place for place, other in links if other == CLIENTS), key=int)
    raise SandboxError(
        f"no link between {between[0]!r} and {between[1]!r}: name a broker ({', '.join(brokers)}) and another one, "
        f"or {above}, or {CLIENTS}" + ("; or two controllers" if above == CONTROLLERS else "")
    )


def in_words(link: Link) -> str:
    """`between broker 1 and broker 2`, `between broker 1 and ZooKeeper`."""
    place, other = (node_in_words(place) if place.isdigit() else _WORDS.get(place, place) for place in link)
    return f"{place} and {'the other ' if place.startswith('controller') and link[1] == CONTROLLERS else ''}{other}"


_WORDS = {ZOOKEEPER: "ZooKeeper", CONTROLLERS: "controllers", CLIENTS: "its clients"}


_RESPONSE = struct.Struct(">iiiqi16s")
"""Length, protocol version, session timeout in ms, session id, length of the password, password."""
_REQUEST = struct.Struct(">iiqiqi16s?")
"""Length, protocol version, last zxid seen, session timeout in ms, session id, password's length, it, read-only."""
_CLOSE = struct.pack(">iii", 8, 1, -11)
"""Length, xid, `closeSession`."""


class ZooKeeperSession(msgspec.Struct, frozen=True):
    """What proves that a session is one's own."""

    id: int
    password: bytes
    timeout_ms: int


def session_in(greeting: bytes) -> ZooKeeperSession | None:
    """The session that a server's first bytes tell of; None where they tell of none."""
    if len(greeting) < _RESPONSE.size:
        return None
    _, version, timeout_ms, session, length, password = _RESPONSE.unpack_from(greeting)
    if version != 0 or length != 16 or not session:
        return None
    return ZooKeeperSession(session, password, timeout_ms)


async def end_session(session: ZooKeeperSession, host: str, port: int, timeout_s: float = 10.0) -> bool:
    """Take a session over and close it: its ephemeral znodes go at once. False where it was over already.

    Raises OSError: the server is not there, or does not answer in time.
    """
    async with asyncio.timeout(timeout_s):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            size = _REQUEST.size - 4
            writer.write(_REQUEST.pack(size, 0, 0, session.timeout_ms, session.id, 16, session.password, False))
            answer = await _frame(reader)
            if session_in(answer) is None:
                return False
            writer.write(_CLOSE)
            await _frame(reader)
            return True
        except asyncio.IncompleteReadError:
            return False
        finally:
            writer.close()


async def _frame(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(4)
    return head + await reader.readexactly(struct.unpack(">i", head)[0])


CLIENT, REPLICATION = "CLIENT", "REPLICATION"
"""The listeners of a sandbox's broker."""
ONE_LISTENER = "PLAINTEXT"
"""The only one where brokers speak as those before 0.10.2, whose listeners have no names (KIP-103)."""


class Switchboard:
    """From `start` to `close`, in one event loop."""

    def __init__(
        self,
        brokers: Iterable[int],
        zookeepers: int,
        controllers: Iterable[int] = (),
        *,
        has_one_listener: bool = False,
    ) -> None:
        self._brokers, voters = tuple(brokers), tuple(controllers)
        self.listeners = (ONE_LISTENER,) if has_one_listener else (CLIENT, REPLICATION)
        """Of each broker; clients use the first one, brokers the last one."""
        self._valves: Mapping[Link, Valve] = {link: Valve() for link in links_of(self._brokers, voters)}
        self._open = Valve()
        """For whoever is not one of these brokers: never shut."""
        self._listeners = {
            (broker, listener): Proxy(self._pick(broker, listener))
            for broker in self._brokers
            for listener in self.listeners
        }
        self._zookeepers = {
            (broker, server): Proxy(self._pick(broker, ZOOKEEPER))
            for broker in self._brokers
            for server in range(1, zookeepers + 1)
        }
        self._controllers = {controller: Proxy(self._pick_for_controller(controller)) for controller in voters}
        self._between = {
            frozenset(pair): ValvesInTurn(self._valves[pair], *(self._valves[each, CONTROLLERS] for each in pair))
            for pair in combinations(map(str, voters), 2)
        }

    async def start(self, first_port: int | None = None, first_controller_port: int | None = None) -> None:
        """Open every proxy; clients reach the first broker by `first_port`, the next by the next. Raises OSError."""
        for place, broker in enumerate(self._brokers):
            await self.for_clients(broker).start(first_port + place if first_port else 0)
        for place, proxy in enumerate(self._controllers.values()):
            await proxy.start(first_controller_port + place if first_controller_port else 0)
        for proxy in self._all():
            if not proxy.port:
                await proxy.start()

    async def close(self) -> None:
        await asyncio.gather(*(proxy.close() for proxy in self._all()))

    def listener(self, broker: int, name: str) -> Proxy:
        return self._listeners[broker, name]

    def for_clients(self, broker: int) -> Proxy:
        """What clients reach a broker by."""
        return self.listener(broker, self.listeners[0])

    def zookeeper(self, broker: int, server: int) -> Proxy:
        """What a broker reaches a ZooKeeper server by."""
        return self._zookeepers[broker, server]

    def controller(self, controller: int) -> Proxy:
        """What everybody reaches a controller by."""
        return self._controllers[controller]

    def is_gone(self, node: int) -> None:
        """Nobody listens behind the listeners of this broker or controller any more."""
        if node in self._controllers:
            self.controller(node).lead_nowhere()
        else:
            for listener in self.listeners:
                self.listener(node, listener).lead_nowhere()

    def zookeeper_at(self, server: int, host: str, port: int) -> None:
        """Where a ZooKeeper server listens."""
        for (_, number), proxy in self._zookeepers.items():
            if number == server:
                proxy.lead_to(host, port)

    def valve(self, between: tuple[str, str]) -> tuple[Link, Valve]:
        """A link in its normal form, and what shuts it. Raises SandboxError for what is no link."""
        link = link_between(between, self._valves)
        return link, self._valves[link]

    def sessions(self, broker: int) -> list[ZooKeeperSession]:
        greetings = (passage.greeting for proxy in self._zookeepers_of(broker) for passage in proxy.passages)
        return [session for greeting in greetings if (session := session_in(greeting))]

    def hang_up(self, broker: int) -> None:
        """Break a broker's connections to ZooKeeper."""
        for proxy in self._zookeepers_of(broker):
            for passage in list(proxy.passages):
                proxy.end(passage)

    def views(self) -> tuple[LinkView, ...]:
        return tuple(
            LinkView(
                between=link,
                status="cut" if valve.is_cut else "slow" if valve.delay_s else "open",
                delay_ms=valve.delay_s * 1000,
            )
            for link, valve in self._valves.items()
        )

    def _zookeepers_of(self, broker: int) -> list[Proxy]:
        return [proxy for (owner, _), proxy in self._zookeepers.items() if owner == broker]

    def _pick(self, broker: int, listener: str) -> Pick:
        if listener in (ZOOKEEPER, CLIENT):
            valve = self._valves[str(broker), ZOOKEEPER if listener == ZOOKEEPER else CLIENTS]
            return lambda _: valve
        stranger = self._valves[str(broker), CLIENTS] if listener == ONE_LISTENER else self._open

        def by_source(received: bytes) -> Valve | None:
            source = source_node(received)
            if source is None:
                return None
            target = str(broker)
            return self._valves.get((source, target)) or self._valves.get((target, source)) or stranger

        return by_source

    def _pick_for_controller(self, controller: int) -> Pick:
        def by_source(received: bytes) -> Valve | None:
            source = source_node(received)
            if source is None:
                return None
            between = self._between.get(frozenset((source, str(controller))))
            return between or self._valves.get((source, CONTROLLERS), self._open)

        return by_source

    def _all(self) -> list[Proxy]:
        return [*self._listeners.values(), *self._zookeepers.values(), *self._controllers.values()]


class ZooKeeperLink:
    """What a member reaches ZooKeeper by, from `start` to `close`. Cut, the member reads on: brokers are elsewhere."""

    def __init__(self) -> None:
        self.valve = Valve()
        self._proxies: list[Proxy] = []

    async def start(self, zookeeper: str) -> str:
        """Takes a connect string with its chroot; returns the one to give to the member. Raises OSError."""
        servers, slash, chroot = zookeeper.partition("/")
        for server in servers.split(","):
            proxy = Proxy(lambda _: self.valve)
            proxy.lead_to(*address_of(server))
            await proxy.start()
            self._proxies.append(proxy)
        return ",".join(proxy.address for proxy in self._proxies) + slash + chroot

    def view(self, place: str) -> LinkView:
        """Of a member by this name."""
        status = "cut" if self.valve.is_cut else "slow" if self.valve.delay_s else "open"
        return LinkView(between=(place, ZOOKEEPER), status=status, delay_ms=self.valve.delay_s * 1000)

    async def close(self) -> None:
        await asyncio.gather(*(proxy.close() for proxy in self._proxies))

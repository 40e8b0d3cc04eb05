"""All links of a sandbox and the proxies they pass: where everybody is reached, and what can be cut, slowed, healed."""

import asyncio
from collections.abc import Iterable, Mapping

from model.sandbox.control.state import LinkView
from model.sandbox.links.first_request import source_broker
from model.sandbox.links.link import CLIENTS, ZOOKEEPER, Link, link_between, links_of
from model.sandbox.links.proxy import Pick, Proxy
from model.sandbox.links.valve import Valve
from model.sandbox.links.zookeeper_session import ZooKeeperSession, session_in

CLIENT, REPLICATION = "CLIENT", "REPLICATION"
"""The listeners of a sandbox's broker."""


class Switchboard:
    """From `start` to `close`, in one event loop."""

    def __init__(self, brokers: Iterable[int], zookeepers: int) -> None:
        self._brokers = tuple(brokers)
        self._valves: Mapping[Link, Valve] = {link: Valve() for link in links_of(self._brokers)}
        self._open = Valve()
        """For whoever is not one of these brokers: never shut."""
        self._listeners = {
            (broker, listener): Proxy(self._pick(broker, listener))
            for broker in self._brokers
            for listener in (CLIENT, REPLICATION)
        }
        self._zookeepers = {
            (broker, server): Proxy(self._pick(broker, ZOOKEEPER))
            for broker in self._brokers
            for server in range(1, zookeepers + 1)
        }

    async def start(self, first_port: int | None = None) -> None:
        """Open every proxy; clients reach the first broker by `first_port`, the next by the next. Raises OSError."""
        for place, broker in enumerate(self._brokers):
            await self.listener(broker, CLIENT).start(first_port + place if first_port else 0)
        for proxy in self._all():
            if not proxy.port:
                await proxy.start()

    async def close(self) -> None:
        """End every connection."""
        await asyncio.gather(*(proxy.close() for proxy in self._all()))

    def listener(self, broker: int, name: str) -> Proxy:
        """What others reach a broker's listener by."""
        return self._listeners[broker, name]

    def zookeeper(self, broker: int, server: int) -> Proxy:
        """What a broker reaches a ZooKeeper server by."""
        return self._zookeepers[broker, server]

    def broker_is_gone(self, broker: int) -> None:
        """Nobody listens behind its listeners any more."""
        for listener in (CLIENT, REPLICATION):
            self.listener(broker, listener).lead_nowhere()

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
        """The ZooKeeper sessions of a broker that are connected now."""
        greetings = (passage.greeting for proxy in self._zookeepers_of(broker) for passage in proxy.passages)
        return [session for greeting in greetings if (session := session_in(greeting))]

    def hang_up(self, broker: int) -> None:
        """Break a broker's connections to ZooKeeper."""
        for proxy in self._zookeepers_of(broker):
            for passage in list(proxy.passages):
                proxy.end(passage)

    def views(self) -> tuple[LinkView, ...]:
        """How every link is."""
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
        if listener != REPLICATION:
            valve = self._valves[str(broker), ZOOKEEPER if listener == ZOOKEEPER else CLIENTS]
            return lambda _: valve

        def by_source(received: bytes) -> Valve | None:
            source = source_broker(received)
            if source is None:
                return None
            target = str(broker)
            return self._valves.get((source, target)) or self._valves.get((target, source)) or self._open

        return by_source

    def _all(self) -> list[Proxy]:
        return [*self._listeners.values(), *self._zookeepers.values()]

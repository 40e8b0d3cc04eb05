"""Where a broker listens: a server for each listener, and what it tells the others of it in ZooKeeper."""

import socket
from collections.abc import Mapping

from model.broker.settings.broker_keys import (
    BROKER_RACK,
    CONNECTIONS_MAX_IDLE_MS,
    INTER_BROKER_PROTOCOL_VERSION,
    SOCKET_REQUEST_MAX_BYTES,
)
from model.broker.settings.listeners import Listener, advertised_listeners_of, listeners_of, protocols_of
from model.broker.settings.settings import Settings
from model.controller.broker_registration import registration_as
from model.controller.generations import generation_of
from model.hosts.file_limit import file_limit
from model.hosts.wire.inflow import Limits
from model.hosts.wire.server import Api, Server
from model.znodes.brokers import BrokerRegistration, Endpoint

EVERYWHERE = "0.0.0.0"


class Listening:
    """From `start` to `close`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._servers: dict[str, Server] = {}
        self._bound: dict[str, tuple[str, int]] = {}

    async def start(self, apis: Mapping[int, Api]) -> None:
        """Listen. Raises OSError when a port is taken."""
        places = listeners_of(self._settings)
        limits = _limits(self._settings, len(places))
        for name, host, port in places:
            server = self._servers[name] = Server(apis, listener=name, limits=limits)
            self._bound[name] = host, await server.start(host or EVERYWHERE, port)

    @property
    def addresses(self) -> dict[str, str]:
        """By listener: the host and port that are listened on."""
        return {name: f"{host or EVERYWHERE}:{port}" for name, (host, port) in self._bound.items()}

    def registration(self, at_ms: int) -> bytes:
        """The payload of this broker's znode."""
        protocols = protocols_of(self._settings)
        places = [self._advertised(each) for each in advertised_listeners_of(self._settings)]
        plain = next((each for each in places if protocols.get(each.name) == "PLAINTEXT"), None)
        registration = BrokerRegistration(
            listener_security_protocol_map={each.name: protocols[each.name] for each in places},
            endpoints=tuple(str(Endpoint(each.name, each.host, each.port, "")) for each in places),
            rack=self._settings[BROKER_RACK],
            port=-1 if plain is None else plain.port,
            host=None if plain is None else plain.host,
            version=5,
            timestamp=str(at_ms),
        )
        forms = generation_of(self._settings[INTER_BROKER_PROTOCOL_VERSION]).forms
        return registration_as(registration, forms).to_bytes()

    def _advertised(self, told: Listener) -> Listener:
        """Port 0 stands for the one that was given by the system, no host for the machine's name."""
        port = told.port or self._bound.get(told.name, ("", 0))[1]
        return Listener(told.name, told.host or socket.getfqdn(), port)

    async def close(self) -> None:
        """Stop listening and end all connections."""
        for server in self._servers.values():
            await server.close()


def _limits(settings: Settings, listeners: int) -> Limits:
    """Connections get half of the files that may be open: without files for its logs a broker could not go on."""
    most_bytes, idle_ms = settings[SOCKET_REQUEST_MAX_BYTES], settings[CONNECTIONS_MAX_IDLE_MS]
    return Limits(
        max_frame_bytes=most_bytes,
        idle_s=None if idle_ms < 0 else idle_ms / 1000,
        most_connections=max(file_limit() // 2 // listeners, 1),
        most_held_bytes=4 * most_bytes,
    )

"""Who a broker is, and where it listens.

Its id and its cluster's are in its settings, its log dirs and ZooKeeper, which must agree. Source:
`kafka.server.KafkaServer.getOrGenerateBrokerId`, `BrokerMetadataCheckpoint` (3.9). There is a server for each
listener, and a registration that tells the others of it in ZooKeeper.

In KRaft mode log dirs have ids as well (KIP-858). Kafka wants them formatted; here one that is new is given its id and
the cluster's at the first start. Source: `org.apache.kafka.metadata.properties.MetaPropertiesEnsemble` (3.9).
"""

import asyncio
import json
import socket
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from model.broker.settings.keys import (
    BROKER_ID,
    BROKER_RACK,
    CONNECTIONS_MAX_IDLE_MS,
    INTER_BROKER_PROTOCOL_VERSION,
    RESERVED_BROKER_MAX_ID,
    SOCKET_REQUEST_MAX_BYTES,
)
from model.broker.settings.settings import Listener, Settings, advertised_listeners_of, listeners_of, protocols_of
from model.cluster.whole_file import read_text
from model.controller.generations import generation_of
from model.controller.znode_formats import registration_as
from model.hosts.live_broker.parts import AskZooKeeper
from model.hosts.process import file_limit
from model.hosts.wire.frames import ServerLimits
from model.hosts.wire.names import topic_id_text, topic_uuid
from model.hosts.wire.server import NO_FEATURES, Api, Features, Paces, Server
from model.log.checkpoints import read_meta_properties, write_meta_properties
from model.log.names import CLEAN_SHUTDOWN_FILE
from model.znodes.cluster import BrokerRegistration, Endpoint, decode_cluster_id
from model.znodes.paths import CLUSTER_ID
from model.znodes.payload import UnusablePayloadError
from model.zookeeper import Create, GetData, SetData

SEQUENCE = "/brokers/seqid"


class IdentityError(Exception):
    """They do not agree: one line for the user."""


async def broker_id(settings: Settings, folders: Sequence[Path], zookeeper: AskZooKeeper) -> int:
    """The id of the settings, or of the log dirs, or the next of ZooKeeper's.

    Raises IdentityError or DamagedFileError.
    """
    given = settings[BROKER_ID]
    kept = {path: int(text) for path, text in _kept(folders, "broker.id").items() if text.isdecimal()}
    if len(set(kept.values())) > 1:
        raise IdentityError(f"the log dirs belong to several brokers: {_in_folders(kept)}")
    found = next(iter(kept.values()), -1)
    if given >= 0 and found not in (-1, given):
        raise IdentityError(f"broker.id is {given}, but {_in_folders(kept)}: name other log.dirs, or that id")
    if max(given, found) >= 0:
        return max(given, found)
    await zookeeper((Create("/brokers"), Create(SEQUENCE)))
    (taken,) = await zookeeper((SetData(SEQUENCE, b""),))
    if not taken.ok:
        raise IdentityError("broker.id is -1, and ZooKeeper gives out no id: set one")
    return settings[RESERVED_BROKER_MAX_ID] + taken.version


async def cluster_id(zookeeper: AskZooKeeper) -> str | None:
    """The name of the cluster; None before the first broker has given it one."""
    (read,) = await zookeeper((GetData(CLUSTER_ID),))
    try:
        return decode_cluster_id(read.data).cluster_id if read.ok else None
    except UnusablePayloadError:
        return None


def check_cluster(folders: Sequence[Path], cluster: str | None) -> None:
    """Raises IdentityError for log dirs of another cluster."""
    for path, kept in _kept(folders, "cluster.id").items():
        if cluster is not None and kept != cluster:
            raise IdentityError(
                f"{path} belongs to cluster {kept}, and ZooKeeper's is {cluster}: name other log.dirs, or its ZooKeeper"
            )


def note_identity(folders: Sequence[Path], broker: int, cluster: str | None) -> None:
    """Write meta.properties where it does not say so yet. Raises OSError."""
    properties = {"version": "0", "broker.id": str(broker), **({} if cluster is None else {"cluster.id": cluster})}
    for path in folders:
        if path.is_dir() and read_meta_properties(path) != properties:
            write_meta_properties(path, properties)


def node_of(folders: Sequence[Path], broker: int) -> str | None:
    """Of which cluster the log dirs of this node of KRaft are; None where none says so. Raises IdentityError."""
    others = {path: int(text) for path, text in _kept(folders, "node.id").items() if text != str(broker)}
    others |= {path: int(text) for path, text in _kept(folders, "broker.id").items() if text.isdecimal()}
    if others:
        raise IdentityError(f"node.id is {broker}, but {_in_folders(others)}: name other log.dirs")
    clusters = _kept(folders, "cluster.id")
    if len(set(clusters.values())) > 1:
        raise IdentityError(f"the log dirs belong to several clusters: {', '.join(sorted(set(clusters.values())))}")
    return next(iter(clusters.values()), None)


def note_node(folders: Sequence[Path], broker: int, cluster: str) -> dict[Path, uuid.UUID]:
    """The id of each log dir that can be used; those without one are given one. Raises OSError."""
    ids: dict[Path, uuid.UUID] = {}
    for path in folders:
        if path.is_dir():
            text = read_meta_properties(path).get("directory.id") or topic_id_text(uuid.uuid4()) or ""
            properties = {"version": "1", "cluster.id": cluster, "node.id": str(broker), "directory.id": text}
            if read_meta_properties(path) != properties:
                write_meta_properties(path, properties)
            ids[path] = topic_uuid(text)
    return ids


def _kept(folders: Sequence[Path], key: str) -> Mapping[Path, str]:
    found = ((path, read_meta_properties(path).get(key)) for path in folders)
    return {path: value for path, value in found if value is not None}


def _in_folders(kept: Mapping[Path, int]) -> str:
    told: Iterable[str] = (f"meta.properties in {path} says {broker}" for path, broker in kept.items())
    return ", ".join(told)


def clean_shutdown_epoch(folder: Path) -> int:
    """The broker epoch in the mark of a clean shutdown; -1 without one that says it."""
    try:
        said = json.loads(read_text(folder / CLEAN_SHUTDOWN_FILE, "utf-8", only_file=True))
        return int(said["brokerEpoch"])
    except (OSError, ValueError, TypeError, KeyError):
        return -1


EVERYWHERE = "0.0.0.0"


class Listening:
    """From `start` to `close`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._servers: dict[str, Server] = {}
        self._bound: dict[str, tuple[str, int]] = {}

    async def start(
        self,
        apis: Mapping[int, Api],
        pace: Paces,
        features: Callable[[], Features] = lambda: NO_FEATURES,
        opens: asyncio.Event | None = None,
    ) -> None:
        """Listen; nobody is answered before `opens`. Raises OSError when a port is taken."""
        places = listeners_of(self._settings)
        limits = _limits(self._settings, len(places))
        for name, host, port in places:
            server = Server(apis, listener=name, limits=limits, pace=pace, features=features, opens=opens)
            self._servers[name] = server
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

    @property
    def advertised(self) -> list[tuple[Listener, str]]:
        """What others are told, with the name of each one's protocol."""
        protocols = protocols_of(self._settings)
        return [(self._advertised(each), protocols[each.name]) for each in advertised_listeners_of(self._settings)]

    def _advertised(self, told: Listener) -> Listener:
        """Port 0 stands for the one that was given by the system, no host for the machine's name."""
        port = told.port or self._bound.get(told.name, ("", 0))[1]
        return Listener(told.name, told.host or socket.getfqdn(), port)

    async def close(self) -> None:
        """Stop listening and end all connections."""
        for server in self._servers.values():
            await server.close()


def _limits(settings: Settings, listeners: int) -> ServerLimits:
    """Connections get half of the files that may be open: without files for its logs a broker could not go on."""
    most_bytes, idle_ms = settings[SOCKET_REQUEST_MAX_BYTES], settings[CONNECTIONS_MAX_IDLE_MS]
    return ServerLimits(
        max_frame_bytes=most_bytes,
        idle_s=None if idle_ms < 0 else idle_ms / 1000,
        most_connections=max(file_limit() // 2 // listeners, 1),
        most_held_bytes=4 * most_bytes,
    )

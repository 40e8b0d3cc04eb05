"""Who a broker is: its id, and its cluster's, by its settings, its log dirs and ZooKeeper, which must agree.

Source: `kafka.server.KafkaServer.getOrGenerateBrokerId`, `BrokerMetadataCheckpoint` (3.9).
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from model.broker.settings.broker_keys import BROKER_ID, RESERVED_BROKER_MAX_ID
from model.broker.settings.settings import Settings
from model.controller.zookeeper import CLUSTER_ID, Create, Read, SetData
from model.hosts.live_broker.replicas.surroundings import AskZooKeeper
from model.log.checkpoints.properties import read_meta_properties, write_meta_properties
from model.znodes.cluster import decode_cluster_id
from model.znodes.reasons import UnusablePayloadError

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
        raise IdentityError(f"the log dirs belong to several brokers: {_listed(kept)}")
    found = next(iter(kept.values()), -1)
    if given >= 0 and found not in (-1, given):
        raise IdentityError(f"broker.id is {given}, but {_listed(kept)}: name other log.dirs, or that id")
    if max(given, found) >= 0:
        return max(given, found)
    await zookeeper((Create("/brokers"), Create(SEQUENCE)))
    (taken,) = await zookeeper((SetData(SEQUENCE, b""),))
    if not taken.ok:
        raise IdentityError("broker.id is -1, and ZooKeeper gives out no id: set one")
    return settings[RESERVED_BROKER_MAX_ID] + taken.version


async def cluster_id(zookeeper: AskZooKeeper) -> str | None:
    """The name of the cluster; None before the first broker has given it one."""
    (read,) = await zookeeper((Read(CLUSTER_ID),))
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


def _kept(folders: Sequence[Path], key: str) -> Mapping[Path, str]:
    found = ((path, read_meta_properties(path).get(key)) for path in folders)
    return {path: value for path, value in found if value is not None}


def _listed(kept: Mapping[Path, int]) -> str:
    told: Iterable[str] = (f"meta.properties in {path} says {broker}" for path, broker in kept.items())
    return ", ".join(told)

"""What doing an action would take, laid out before anything is done, and what that stands on.

A proposal is shown, confirmed, checked again, carried out. It stands on the cluster as it was seen, its release's
rules, the way in that is open, and the znodes that were read a moment before: writes hold for just these.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.records import ClusterRecord
from model.cluster.topic_image import TopicImage, unpadded
from model.controller import Refusal
from model.controller.generations import LATEST, Generation
from model.controller.placement import BrokerMetadata, RackMode, brokers_by_mode
from model.kraft_controller.cluster import KraftCluster

Operation = Literal["create", "set", "delete", "check"]
"""A `check` writes nothing: it says of a znode that it must not have changed."""


class ZnodeWrite(msgspec.Struct, frozen=True, tag=True):
    """One write to ZooKeeper; those that follow each other in a proposal are done together or not at all.

    `version` is the znode's version it was made up for; None only where it is created. To the name of a `sequential`
    one ZooKeeper adds ten digits.
    """

    operation: Operation
    path: str
    before: bytes | None = None
    after: bytes | None = None
    version: int | None = None
    sequential: bool = False


class ApiCall(msgspec.Struct, frozen=True, tag=True):
    """One request of Kafka's Admin API: its name as Kafka has it, and its fields as plain JSON values.

    `expects` are facts, name → value, that must still hold when it is sent: brokers keep no versions to fence by.
    """

    api: str
    fields: Mapping[str, object]
    expects: Mapping[str, object] = {}


Step = ZnodeWrite | ApiCall


class Proposal(msgspec.Struct, frozen=True):
    """`changes` are lines before → after for the operator; `type_to_confirm` has to be typed, empty for a plain yes.

    `rollback` says what undoes it, one line, empty where nothing can. `leads_to` are facts that the cluster will tell
    once it is done, as far as it matters to what the death of a broker does; empty where nothing of it changes.
    """

    title: str
    steps: tuple[Step, ...]
    changes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    type_to_confirm: str = ""
    rollback: str = ""
    leads_to: tuple[ClusterRecord, ...] = ()


class ActionRefused(Exception):  # noqa: N818 - reads as a fact
    """It cannot or must not be done; one line that names the reason and the way out."""


class FoundZnode(msgspec.Struct, frozen=True):
    """A znode's payload and data version."""

    data: bytes
    version: int


Found = Mapping[str, FoundZnode]
"""By path; what is asked for and not in it does not exist."""


def create(path: str, data: bytes = b"", *, sequential: bool = False) -> ZnodeWrite:
    """A znode that is not there yet; it fails where it is."""
    return ZnodeWrite("create", path, after=data, sequential=sequential)


def put(found: Found, path: str, data: bytes) -> ZnodeWrite:
    """A payload for a znode, which is created if it was not found."""
    before = found.get(path)
    if before is None:
        return create(path, data)
    return ZnodeWrite("set", path, before=before.data, after=data, version=before.version)


def delete(found: Found, path: str) -> ZnodeWrite:
    """The end of a znode that was found. Raises KeyError for one that was not."""
    before = found[path]
    return ZnodeWrite("delete", path, before=before.data, version=before.version)


def check(found: Found, path: str) -> ZnodeWrite:
    """A znode that is not written, and must not be another than was found. Raises KeyError for one that was not."""
    return ZnodeWrite("check", path, version=found[path].version)


Replicas = Mapping[int, tuple[int, ...]]
"""By partition, the preferred leader first."""


class Basis(msgspec.Struct, frozen=True):
    """`found` are the znodes that were just read; None where things are done through the brokers' Admin API."""

    image: ClusterImage
    rules: Generation = LATEST
    found: Found | None = None

    @property
    def is_kraft(self) -> bool:
        """Whether no ZooKeeper is asked who controls."""
        return self.image.generation == "kraft"

    def kraft(self) -> KraftCluster | None:
        """The cluster as its KRaft controller holds it; None where ZooKeeper's controller rules."""
        return KraftCluster(self.image) if self.is_kraft else None

    @property
    def active(self) -> frozenset[int]:
        """Brokers that may lead and be in sync: those that live, without those of KRaft that are shutting down."""
        return frozenset(each.id for each in self.image.brokers.values() if not each.in_controlled_shutdown)

    def brokers(self, mode: RackMode) -> tuple[BrokerMetadata, ...]:
        """The live ones as replicas are placed on them. Raises ActionRefused where only some have racks."""
        known = [BrokerMetadata(each.id, each.rack) for each in self.image.brokers.values()]
        brokers = brokers_by_mode(known, mode if self.rules.knows_racks else RackMode.DISABLED)
        if isinstance(brokers, Refusal):
            raise refuse(brokers)
        return brokers

    def topic(self, name: str) -> TopicImage:
        """Raises ActionRefused for a topic that does not exist."""
        topic = self.image.topics.get(name)
        if topic is None:
            raise ActionRefused(f"topic {name!r} does not exist")
        return topic

    def replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        """Of a partition that exists, the preferred leader first."""
        topic = self.topic(partition.topic)
        return unpadded(topic.replicas[topic.row_of[partition.partition]])


def refuse(refusal: Refusal) -> ActionRefused:
    """Kafka's reason in one line."""
    return ActionRefused(f"{refusal.message.rstrip('.')} ({refusal.error})")

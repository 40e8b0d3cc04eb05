"""What goes on in a busy cluster's ZooKeeper, at random: topics, states, brokers, controllers, consumers, settings.

Writes as real Kafka does: several znodes one after the other, never all at once. Decides nothing sensible.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack, suppress

from kazoo.exceptions import NodeExistsError, NoNodeError

from model.znodes import paths
from model.znodes.catalogue import ZnodeKind
from model.znodes.cluster import BrokerRegistration, ClusterId, ControllerEpoch, ControllerRegistration
from model.znodes.codec import encode
from model.znodes.configs import AclEntry, EntityConfig, ResourceAcls
from model.znodes.consumers import ConsumerOffset, ConsumerRegistration, PartitionOwner
from model.znodes.payload import Payload
from model.znodes.topics import (
    IsrChange,
    LeaderIsrAndControllerEpoch,
    PartitionEntry,
    PartitionReassignment,
    PreferredReplicaElection,
    ReassignmentEntry,
    TopicAssignment,
)
from tests.harness.zookeeper import kazoo

BROKERS = range(6)


class KafkaLife:
    """One writer. Its names begin with `prefix`, so that several may write beside each other."""

    def __init__(self, address: str, seed: int, prefix: str = "a") -> None:
        """`address` is `host:port/chroot`, whose chroot must exist."""
        self._ends = ExitStack()
        self.client = self._ends.enter_context(kazoo(address))
        self._dice = random.Random(seed)
        self._prefix = prefix
        self._topics: dict[str, int] = {}
        self._epoch = 0
        self._spoilt: dict[str, bytes] = {}

    def close(self) -> None:
        """End the session: its brokers, controller and consumers go."""
        self._ends.close()

    def found(self, topics: int = 20) -> None:
        """A cluster's first tree: what every broker makes at its start, some brokers and topics."""
        for path in paths.PATHS_AT_BROKER_START:
            self.client.ensure_path(path)
        self._put("/cluster/id", ClusterId(cluster_id="kdrill-test-cluster-00"))
        for broker in BROKERS:
            self._register(broker)
        self._move_controller()
        for _ in range(topics):
            self._create_topic()

    def go_on(self, steps: int) -> None:
        """That many random changes."""
        for _ in range(steps):
            self._dice.choice(_CHANGES)(self)

    def settle(self) -> None:
        """Put right what cannot be read: a source that has seen it before knows more than one that has not."""
        for path, good in self._spoilt.items():
            if self.client.exists(path):
                self.client.set(path, good)
        self._spoilt.clear()

    def create_topic(self, name: str, partitions: int) -> None:
        """Assignment, partitions and states, one after the other."""
        self._topics[name] = partitions
        self._put(paths.topic_path(name), self._assignment(partitions))
        for partition in range(partitions):
            self._write_state(name, partition)

    def delete_topic(self, name: str) -> None:
        """Mark, remove bottom-up, unmark."""
        del self._topics[name]
        self._put(paths.delete_topic_path(name))
        self.client.delete(paths.topic_path(name), recursive=True)
        self._remove(paths.config_path(f"topics/{name}"))
        self._remove(paths.delete_topic_path(name))

    def _put(self, path: str, payload: Payload | bytes = b"", *, ephemeral: bool = False) -> None:
        data = payload if isinstance(payload, bytes) else encode(payload)
        while True:  # another life may be quicker: settings are nobody's own
            with suppress(NoNodeError):
                self.client.set(path, data)
                return
            with suppress(NodeExistsError):
                self.client.create(path, data, ephemeral=ephemeral, makepath=True)
                return

    def _remove(self, path: str) -> None:
        if self.client.exists(path):
            self.client.delete(path, recursive=True)

    def _some_topic(self) -> str:
        return self._dice.choice([*self._topics, f"{self._prefix}-none"])

    def _replicas(self) -> tuple[int, ...]:
        return tuple(self._dice.sample(BROKERS, self._dice.randint(1, 4)))

    def _assignment(self, partitions: int) -> TopicAssignment:
        return TopicAssignment(
            partitions={partition: self._replicas() for partition in range(partitions)},
            topic_id=f"{self._dice.randrange(10**21):022d}",
            adding_replicas={0: (5,)} if self._dice.random() < 0.2 else {},
            version=3,
        )

    def _write_state(self, topic: str, partition: int) -> None:
        isr = self._replicas()
        state = LeaderIsrAndControllerEpoch(
            controller_epoch=self._epoch,
            leader=self._dice.choice((*isr, -1)),
            leader_epoch=self._dice.randrange(100),
            isr=isr,
            leader_recovery_state=int(self._dice.random() < 0.1),
        )
        self._put(paths.partition_state_path(topic, partition), state)

    def _register(self, broker: int) -> None:
        path = paths.broker_path(broker)
        registration = BrokerRegistration(
            version=5,
            host=f"b{broker}.example",
            port=9092,
            endpoints=(f"PLAINTEXT://b{broker}.example:9092",),
            rack=self._dice.choice((None, "r1", "r2")),
            timestamp=str(self._dice.randrange(10**12)),
        )
        self._put(path, ephemeral=True)
        self._put(path, registration)

    def _move_controller(self) -> None:
        self._remove("/controller")
        self._epoch += 1
        who = ControllerRegistration(version=2, broker_id=self._dice.choice(BROKERS), timestamp="7")
        self._put("/controller", who, ephemeral=True)
        self._put("/controller_epoch", ControllerEpoch(self._epoch))

    def _create_topic(self) -> None:
        name = f"{self._prefix}-{self._dice.randrange(40)}"
        if name not in self._topics:
            self.create_topic(name, self._dice.randrange(1, 9))

    def _delete_topic(self) -> None:
        if len(self._topics) > 3:
            self.delete_topic(self._some_existing())

    def _some_existing(self) -> str:
        return self._dice.choice(list(self._topics))

    def _recreate_topic(self) -> None:
        if self._topics:
            name = self._some_existing()
            self.delete_topic(name)
            self.create_topic(name, self._dice.randrange(1, 9))

    def _rewrite_states(self) -> None:
        if self._topics:
            topic = self._some_existing()
            for partition in range(self._topics[topic]):
                self._write_state(topic, partition)

    def _add_partitions(self) -> None:
        if self._topics:
            topic = self._some_existing()
            self.create_topic(topic, self._topics[topic] + 1)

    def _orphan(self) -> None:
        """A state that no assignment names."""
        self._write_state(f"{self._prefix}-orphan", self._dice.randrange(3))

    def _bounce(self) -> None:
        if self._prefix == "a":
            broker = self._dice.choice(BROKERS[1:])
            self._remove(paths.broker_path(broker))
            if self._dice.random() < 0.8:
                self._register(broker)

    def _elect(self) -> None:
        if self._prefix == "a":
            self._move_controller()

    def _member(self) -> None:
        path = paths.member_path(self._group(), f"c{self._dice.randrange(4)}")
        if self._dice.random() < 0.3:
            self._remove(path)
        else:
            subscription = {self._some_topic(): self._dice.randrange(1, 4)}
            self._put(path, ConsumerRegistration(subscription=subscription, timestamp="5"), ephemeral=True)

    def _owner(self) -> None:
        path = paths.owner_path(self._group(), self._some_topic(), self._dice.randrange(4))
        if self._dice.random() < 0.3:
            self._remove(path)
        else:
            self._put(path, PartitionOwner(f"c{self._dice.randrange(4)}-0"), ephemeral=True)

    def _offset(self) -> None:
        path = paths.offset_path(self._group(), self._some_topic(), self._dice.randrange(4))
        self._put(path, ConsumerOffset(self._dice.randrange(10**6)))

    def _end_group(self) -> None:
        self._remove(f"/consumers/{self._group()}")

    def _group(self) -> str:
        return f"{self._prefix}-g{self._dice.randrange(4)}"

    def _configure(self) -> None:
        entities = (
            f"topics/{self._some_topic()}",
            f"clients/{self._prefix}",
            f"users/{self._prefix}",
            f"users/{self._prefix}/clients/c",
            f"brokers/{self._dice.choice(BROKERS)}",
        )
        path = paths.config_path(self._dice.choice(entities))
        if self._dice.random() < 0.3:
            self._remove(path)
        else:
            self._put(path, EntityConfig(config={"producer_byte_rate": str(self._dice.randrange(1000))}))

    def _ask_for_work(self) -> None:
        if self._prefix != "a":
            return
        topic = self._some_topic()
        moved = ReassignmentEntry(topic=topic, partition=0, replicas=self._replicas())
        chosen = PartitionEntry(topic=topic, partition=0)
        path, payload = self._dice.choice(
            (
                ("/admin/reassign_partitions", PartitionReassignment(partitions=(moved,))),
                ("/admin/preferred_replica_election", PreferredReplicaElection(partitions=(chosen,))),
                (paths.delete_topic_path(f"none-{self._dice.randrange(3)}"), b""),
                (paths.acl_path("Topic", topic), _ACLS),
            )
        )
        if self._dice.random() < 0.5:
            self._remove(path)
        else:
            self._put(path, payload)

    def _notify(self) -> None:
        change = encode(IsrChange(partitions=(PartitionEntry(topic=self._some_topic(), partition=0),)))
        made = self.client.create(paths.sequential_path(ZnodeKind.ISR_CHANGE), change, sequence=True, makepath=True)
        if self._dice.random() < 0.9:
            self.client.delete(made)

    def _spoil(self) -> None:
        """A payload that cannot be read, or that can again."""
        if self._topics:
            topic = self._some_existing()
            path = self._dice.choice((paths.topic_path(topic), paths.partition_state_path(topic, 0)))
            self._spoilt.setdefault(path, self.client.get(path)[0])
            self.client.set(path, b'{"version":1,')


_ACLS = ResourceAcls(acls=(AclEntry(principal="User:a", permission_type="Allow", operation="Read", host="*"),))

_CHANGES: tuple[Callable[[KafkaLife], None], ...] = (
    *(KafkaLife._rewrite_states,) * 4,
    *(KafkaLife._offset,) * 3,
    *(KafkaLife._owner,) * 3,
    *(KafkaLife._member,) * 2,
    KafkaLife._end_group,
    *(KafkaLife._create_topic,) * 2,
    KafkaLife._delete_topic,
    KafkaLife._recreate_topic,
    KafkaLife._add_partitions,
    KafkaLife._orphan,
    *(KafkaLife._bounce,) * 2,
    KafkaLife._elect,
    *(KafkaLife._configure,) * 2,
    *(KafkaLife._ask_for_work,) * 2,
    KafkaLife._notify,
    KafkaLife._spoil,
)

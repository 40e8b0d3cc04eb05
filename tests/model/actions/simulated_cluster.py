"""A cluster that a reassignment is tried on: it takes commands, moves replicas when it likes, and obeys nobody else."""

from __future__ import annotations

from dataclasses import dataclass, field

from model.actions.reassignment import BeginMove, Command, ObservedCluster, PartitionNow, Route, RunState, SetConfigs
from model.actions.reassignment_run import wanted
from model.cluster.ids import TopicPartition

Replicas = tuple[int, ...]


@dataclass
class SimulatedCluster:
    """Partitions as Kafka's controller keeps them: while they move, old and new replicas together."""

    route: Route
    replicas: dict[TopicPartition, Replicas]
    alive: frozenset[int] = frozenset(range(1, 10))
    moving: dict[TopicPartition, tuple[Replicas, Replicas]] = field(default_factory=dict)
    """Partition → what it had, and what it gets."""
    configs: dict[str, dict[str, str]] = field(default_factory=dict)

    def look(self, state: RunState) -> ObservedCluster:
        """As a route does."""
        asks = wanted(state)
        return ObservedCluster(
            partitions={name: self._partition(name) for name in asks.partitions if name in self.replicas},
            alive=self.alive,
            configs={entity: dict(self.configs.get(entity, {})) for entity in asks.entities},
            is_taken=self.route == "zookeeper" and bool(self.moving),
        )

    def _partition(self, name: TopicPartition) -> PartitionNow:
        if name not in self.moving:
            return PartitionNow(self.replicas[name], isr=self.replicas[name])
        old, new = self.moving[name]
        union = tuple(dict.fromkeys((*new, *old)))
        if self.route == "zookeeper":  # as before 2.4
            return PartitionNow(tuple(sorted(union)), isr=old, asked=new)
        adding, removing = (tuple(b for b in union if b not in side) for side in (old, new))
        return PartitionNow(union, adding, removing, isr=old)

    def obey(self, command: Command) -> None:
        """Takes a command; raises AssertionError for one that Kafka would not take."""
        if isinstance(command, SetConfigs):
            for entity, values in command.values.items():
                config = self.configs.setdefault(entity, {})
                config.update({key: value for key, value in values.items() if value is not None})
                for key in [key for key, value in values.items() if value is None]:
                    config.pop(key, None)
            return
        assert isinstance(command, BeginMove)
        assert self.route == "admin" or not self.moving, "ZooKeeper has one place for reassignments"
        for name, goal in command.goals.items():
            old = self.moving.get(name, (self.replicas[name], ()))[0]
            assert {*goal} - {*old} <= self.alive, "a new replica is dead"
            self.moving[name] = (old, goal)
            if self.route == "admin" and {*old} == {*goal}:  # nothing to copy: it is so at once
                self.finish(name)

    def finish(self, name: TopicPartition) -> None:
        """What was asked for is done."""
        if name in self.moving:
            self.replicas[name] = self.moving.pop(name)[1]

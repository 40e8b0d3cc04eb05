"""The way to a cluster for a reassignment through its brokers (KIP-455, KIP-339)."""

from collections.abc import Sequence

from model.actions import reassigning_by_calls
from model.actions.proposal import Step
from model.actions.reassignment import Command, PartitionNow, Standing, Wanted
from model.hosts.acting.admin_reads import AdminReads, Reassigned
from model.hosts.acting.carrying_out import Writers

KINDS = {"topics": "topic", "brokers": "broker"}


class BrokersRoute:
    """See `RouteToCluster`."""

    def __init__(self, reads: AdminReads, writers: Writers) -> None:
        self._reads = reads
        self.writers = writers

    def look(self, wanted: Wanted) -> Standing:
        """Raises ActionRefused and UnansweredError."""
        topics = {name.topic for name in wanted.partitions}
        held = self._reads.partitions(sorted(topics))
        here = [name for name in wanted.partitions if name in held]
        moving = self._reads.reassignments(here)
        still = Reassigned()
        return Standing(
            partitions={
                name: PartitionNow(held[name].replicas, to.adding, to.removing, held[name].isr)
                for name in here
                for to in (moving.get(name, still),)
            },
            alive=self._reads.alive(),
            configs=self._configs(wanted.entities),
        )

    def steps_of(self, command: Command, standing: Standing) -> Sequence[Step]:
        """What they rely on is asked once more when they are sent."""
        return reassigning_by_calls.steps_of(command, standing)

    def _configs(self, entities: Sequence[str]) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for kind, resource in KINDS.items():
            names = [name.removeprefix(f"{kind}/") for name in entities if name.startswith(f"{kind}/")]
            if names:
                found |= {f"{kind}/{name}": config for name, config in self._reads.configs(resource, names).items()}
        return found

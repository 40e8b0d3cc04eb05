"""The way to a cluster for a reassignment, and the one through its ZooKeeper."""

from collections.abc import Sequence
from typing import Protocol

from model.actions import reassigning_by_znodes
from model.actions.found import Found
from model.actions.proposal import Step
from model.actions.reassignment import Command, Standing, Wanted
from model.cluster.cluster_image import ClusterImage
from model.controller.zookeeper import BROKER_IDS
from model.hosts.acting.carrying_out import Writers
from model.hosts.acting.reading import Reading


class RouteToCluster(Protocol):
    """Looks at a cluster, and makes steps of commands for it."""

    @property
    def writers(self) -> Writers:
        """Who carries the steps out."""
        ...

    def look(self, wanted: Wanted) -> Standing:
        """As it is now. Raises an error with one line where that cannot be told."""
        ...

    def steps_of(self, command: Command, standing: Standing) -> Sequence[Step]:
        """For the cluster as it was looked at last."""
        ...


class ZooKeeperRoute:
    """`/admin/reassign_partitions` and `/config`; `image` says which release it is."""

    def __init__(self, image: ClusterImage, reading: Reading, writers: Writers) -> None:
        self._image = image
        self._reading = reading
        self._found: Found = {}
        self.writers = writers

    def look(self, wanted: Wanted) -> Standing:
        """Raises ZooKeeperUnavailable, and ActionRefused where a znode cannot be read."""
        self._found = self._reading.znodes(reassigning_by_znodes.paths(wanted))
        return reassigning_by_znodes.standing_of(self._found, self._reading.children(BROKER_IDS), wanted)

    def steps_of(self, command: Command, standing: Standing) -> Sequence[Step]:
        """Fenced by the versions that were seen."""
        return reassigning_by_znodes.steps_of(command, self._image, self._found)

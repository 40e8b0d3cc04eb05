"""The sandbox's cluster as anybody sees it: its newest image, through the same ZooKeeper source as a live cluster's."""

import asyncio
from typing import Self

from model.cluster.cluster_image import ClusterImage
from model.sandbox.errors import SandboxError
from model.sources.feed import Feed, Moment
from model.sources.zookeeper.address import parse_address
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource

FIRST_IMAGE_TIMEOUT_S = 60.0


class WatchedCluster:
    """Within an `async with` block."""

    def __init__(self, zookeeper: str) -> None:
        """`zookeeper` is a connect string with its chroot."""
        self._source = ZooKeeperSource(parse_address(f"zk://{zookeeper}"))
        self._loaded = asyncio.Event()
        self._image: ClusterImage | None = None

    @property
    def image(self) -> ClusterImage:
        """What is known now."""
        assert self._image is not None
        return self._image

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()

        def publish(moment: Moment) -> None:
            loop.call_soon_threadsafe(self._see, moment)

        self._source.open(Feed(self._source.name, publish))
        try:
            await asyncio.wait_for(self._loaded.wait(), FIRST_IMAGE_TIMEOUT_S)
        except TimeoutError:
            raise SandboxError("the cluster's ZooKeeper could not be read") from None
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self._source.close)

    def _see(self, moment: Moment) -> None:
        self._image = moment.image
        if moment.image.provenance.complete:
            self._loaded.set()

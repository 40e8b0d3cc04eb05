"""What controllers told this broker of the cluster, and who waits for news of it. It asks nobody."""

import asyncio
import contextlib
from collections.abc import Callable

from model.broker.controller_requests.metadata_image import MetadataImage


class MetadataCache:
    """`image` is what was said last. Empty until the first controller speaks. Kafka 3.9 `ZkMetadataCache`."""

    def __init__(self) -> None:
        self.image = MetadataImage()
        self._news = asyncio.Event()

    def learn(self, image: MetadataImage) -> None:
        """Take in another image, and wake those who wait for news."""
        self.image = image
        self._news.set()
        self._news = asyncio.Event()

    async def wait_until(self, condition: Callable[[MetadataImage], bool], timeout_s: float) -> bool:
        """Wait until that is so, or for so long; returns whether it is."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while not condition(self.image):
                    await self._news.wait()
        return condition(self.image)

"""A source that is followed by a feed, and its moments, to be waited for. Asserts nothing but that they come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from model.cluster.cluster_image import ClusterImage, ControllerImage, Provenance
from model.sources.addresses import parse_zookeeper_address
from model.sources.feed import Feed, Moment
from model.sources.source import Phase, Source
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tests.zookeeper.heard import PATIENCE_S


class Followed:
    """The moments of one source, in the order of arrival."""

    def __init__(self, source: Source) -> None:
        self.moments: list[Moment] = []
        self.news = threading.Condition()
        """Told of every moment."""
        self.feed = Feed(source.name, self._publish)
        source.open(self.feed)

    @property
    def now(self) -> Moment:
        return self.moments[-1]

    def until(self, matches: Callable[[Moment], object], after: int = 0) -> Moment:
        """Wait for a moment that matches, among those from number `after` on; it may have come already."""

        def found() -> Moment | None:
            return next((moment for moment in self.moments[after:] if matches(moment)), None)

        with self.news:
            assert self.news.wait_for(lambda: found() is not None, PATIENCE_S), self.moments[-1].status
            moment = found()
            assert moment is not None
            return moment

    def until_now(self, matches: Callable[[Moment], object]) -> Moment:
        """Wait until the newest moment matches."""
        with self.news:
            assert self.news.wait_for(lambda: self.moments and matches(self.now), PATIENCE_S), self.now.status
            return self.now

    def until_same_as(self, address: str) -> None:
        """Wait until the source is live and says what one that is opened now says of the cluster at `address`."""
        truth = loaded(address)
        try:
            self.until_now(lambda moment: moment.status.phase == "live" and facts(moment.image) == truth)
        except AssertionError:
            pytest.fail(f"{self.now.status}: {differences(facts(self.now.image), truth)}")

    def phase(self, phase: Phase, after: int = 0) -> Moment:
        """Wait for a moment of this phase, among those from number `after` on."""
        return self.until(lambda moment: moment.status.phase == phase, after)

    @property
    def phases(self) -> list[Phase]:
        """The phases gone through, each named once in a row."""
        phases: list[Phase] = [moment.status.phase for moment in self.moments]
        return [phase for last, phase in zip([None, *phases], phases, strict=False) if phase != last]

    @property
    def loads(self) -> int:
        """How often everything was read and told."""
        return sum(moment.relisted for moment in self.moments)

    def _publish(self, moment: Moment) -> None:
        with self.news:
            self.moments.append(moment)
            self.news.notify_all()


@contextmanager
def followed(source: ZooKeeperSource | str, **options: Any) -> Iterator[Followed]:
    """Open a source, or the one at this address (`host:port/chroot`), and close it at the end."""
    if isinstance(source, str):
        source = ZooKeeperSource(parse_zookeeper_address(f"zk://{source}"), **options)
    try:
        yield Followed(source)
    finally:
        source.close()


def loaded(address: str) -> ClusterImage:
    """What a source that has just been opened says."""
    with followed(address) as fresh:
        return facts(fresh.phase("live").image)


def facts(image: ClusterImage) -> ClusterImage:
    """An image without where and when it was seen, and what was seen happening, to be compared with another."""
    controller = image.controller
    if controller.broker is None:  # nobody knows since when there is none
        controller = ControllerImage(epoch=controller.epoch)
    groups = {name: msgspec.structs.replace(group, rebalances=()) for name, group in image.groups.items()}
    return msgspec.structs.replace(image, provenance=Provenance(), controller=controller, groups=groups)


def differences(one: ClusterImage, other: ClusterImage) -> list[str]:
    """The parts in which two images differ, for a failing test to show."""
    found: list[str] = []
    for name in ClusterImage.__struct_fields__:
        left, right = getattr(one, name), getattr(other, name)
        if left == right:
            continue
        if isinstance(left, dict) and isinstance(right, dict):
            keys = [key for key in {**left, **right} if left.get(key) != right.get(key)]
            found += [f"{name}[{key}]: {str(left.get(key))[:500]} != {str(right.get(key))[:500]}" for key in keys[:3]]
        else:
            found.append(f"{name}: {left} != {right}")
    return found

"""`CoordinatorGroupsSource`: the groups of a cluster's brokers, for whoever knows the cluster from its ZooKeeper.

With them it tells what brokers say of the cluster that ZooKeeper does not bear out; one after the other is asked.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.hosts.kafka_admin.reading_client import ReadingClient
from model.hosts.kafka_client.metadata import metadata_of, metadata_request
from model.hosts.wire.errors import WireError
from model.sources.coordinator_groups.survey import GroupSurvey
from model.sources.kafka.comparison import Rounds, differences
from model.sources.kafka.polling_source import ANSWER_S, PollingSource

INTERVAL_S = 1.0
COMPARED_S = 2.0
"""Between two comparisons, at least: all of a broker's metadata is asked for."""


class CoordinatorGroupsSource(PollingSource):
    """Tells of groups that brokers coordinate, of log ends and of differences, and never lists. Used once."""

    def __init__(
        self,
        bootstrap: str,
        interval_s: float = INTERVAL_S,
        answer_s: float = ANSWER_S,
        security: Mapping[str, Any] | None = None,
        compared_s: float = COMPARED_S,
    ) -> None:
        """As PollingSource; `compared_s` passes between two comparisons. Raises SourceError as PollingSource does."""
        self.compared_s = compared_s
        self.others: frozenset[TopicPartition] = frozenset()
        self.image: Callable[[], ClusterImage | None] = lambda: None
        """The cluster as ZooKeeper has it, once all of it is known; to be set before `open`."""
        self.is_forgotten = False
        """Whoever was told knows nothing any more: everything is to be told again."""
        super().__init__(bootstrap, lambda client: _Beside(client, self), interval_s, answer_s, security)

    def also_measure(self, partitions: Iterable[TopicPartition]) -> None:
        """Of these partitions the log ends are wanted, too; from any thread."""
        self.others = frozenset(partitions)


class _Beside:
    """The survey: groups each time, and what one broker after the other says of the cluster."""

    lists = False

    def __init__(self, client: ReadingClient, source: CoordinatorGroupsSource) -> None:
        self._client, self._source, self._survey = client, source, GroupSurvey(client)
        self._rounds = Rounds()
        self._compared_s = 0.0
        self._told: Mapping[str, str] = {}

    @property
    def troubles(self) -> tuple[str, ...]:
        return self._survey.silent

    async def look(self) -> AsyncIterator[tuple[r.Record, ...]]:
        if self._source.is_forgotten:
            self._source.is_forgotten, self._told = False, {}
            self._survey.tell_again()
        yield await self._survey.look(self._source.others)
        image = self._source.image()
        if image is not None and time.monotonic() - self._compared_s >= self._source.compared_s:
            yield await self._compared(image)
            self._compared_s = time.monotonic()

    async def _compared(self, image: ClusterImage) -> tuple[r.Record, ...]:
        for broker in self._rounds.next(self._client.metadata.brokers):
            try:
                metadata = metadata_of(await self._client.ask(broker, metadata_request))
            except WireError:
                continue  # the groups' survey says who does not answer
            found = self._rounds.see(broker, differences(image, metadata))
            news = () if found == self._told else (r.ViewsDiffered(differences=found),)
            self._told = found
            return news
        return ()

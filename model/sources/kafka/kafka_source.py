"""`kafka://…` as a source: a whole cluster as its brokers tell it, and of what is costly only what somebody wants."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from model.cluster import records as r
from model.hosts.kafka_client.kafka_client import ReadingClient
from model.sources.addresses import KafkaAddress
from model.sources.kafka.cluster_survey import ClusterSurvey
from model.sources.kafka.groups import GroupSurvey
from model.sources.kafka.polling_source import ANSWER_S, PollingSource
from model.sources.kafka.tree import node_at
from model.sources.kafka.views import NOTHING, ClusterView, records_between
from model.sources.metadata_tree import TreeReader
from model.sources.source import CONFIGS, COSTLY, GROUPS, LEASE_S, LOG_DIRS

INTERVAL_S = 5.0
CONNECT_S = 5.0


class KafkaSource(PollingSource):
    """Follows a cluster through its brokers. Writes nothing. Used once."""

    def __init__(
        self,
        address: KafkaAddress,
        interval_s: float = INTERVAL_S,
        answer_s: float = ANSWER_S,
        security: Mapping[str, Any] | None = None,
        connect_s: float = CONNECT_S,
    ) -> None:
        """Until somebody says what is wanted, everything is. Raises SourceError as PollingSource does."""
        protocol: str = (security or {}).get("security_protocol", "PLAINTEXT")
        self.reader = TreeReader(lambda path: node_at(self._view, path))
        """What brokers told last, to browse like znodes."""
        self._view = NOTHING
        self._protocol = protocol
        self._until_s: dict[str, float] = dict.fromkeys(COSTLY, math.inf)
        super().__init__(
            address.bootstrap,
            lambda client: _WholeCluster(client, self._wanted, self._see, protocol),
            interval_s,
            answer_s,
            security,
            connect_s,
        )

    @property
    def view(self) -> ClusterView:
        """What brokers told last."""
        return self._view

    def listing(self, now_ms: int) -> tuple[r.Record, ...]:
        """All of it but for the groups."""
        return tuple(records_between(NOTHING, self._view, now_ms, self._protocol))

    def want(self, *what: str) -> None:
        until_s, before = time.monotonic() + LEASE_S, self._wanted()
        self._until_s = {each: at_s for each, at_s in self._until_s.items() if at_s < math.inf}
        self._until_s |= dict.fromkeys(what, until_s)
        if not before.issuperset(what):
            self.look_now()

    def _wanted(self) -> frozenset[str]:
        now_s = time.monotonic()
        return frozenset(what for what, until_s in self._until_s.items() if until_s > now_s)

    def _see(self, view: ClusterView) -> None:
        self._view = view


class _WholeCluster:
    """The survey: first everything, then what changes."""

    def __init__(
        self,
        client: ReadingClient,
        wanted: Callable[[], frozenset[str]],
        see: Callable[[ClusterView], None],
        protocol: str,
    ) -> None:
        self.lists = True
        self._cluster, self._groups = ClusterSurvey(client), GroupSurvey(client)
        self._wanted, self._see, self._protocol = wanted, see, protocol
        self._told = NOTHING
        self._asks_groups = False

    @property
    def troubles(self) -> tuple[str, ...]:
        of_groups = self._groups.silent if self._asks_groups else ()
        return tuple(dict.fromkeys((*self._cluster.silent, *of_groups)))

    async def look(self) -> AsyncIterator[tuple[r.Record, ...]]:
        cluster, is_first = self._cluster, self._told is NOTHING
        wanted = COSTLY if is_first else self._wanted()
        cluster.silent.clear()
        known = cluster.view.topics.keys()
        await cluster.look()
        yield self._news()
        self.lists = False
        costly: list[Awaitable[None]] = []
        if CONFIGS in wanted or not cluster.view.topics.keys() <= known:
            costly.append(cluster.configs())
        if LOG_DIRS in wanted:
            costly.append(cluster.log_dirs())
        await asyncio.gather(*costly)
        yield self._news()
        self._asks_groups = GROUPS in wanted
        if self._asks_groups:
            yield await self._groups.look(is_fresh=True)

    def _news(self) -> tuple[r.Record, ...]:
        view, before = self._cluster.view, self._told
        if view == before:
            return ()
        self._told = view
        self._see(view)
        return tuple(records_between(before, view, time.time_ns() // 1_000_000, self._protocol))

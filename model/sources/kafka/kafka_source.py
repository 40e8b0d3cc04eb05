"""`kafka://…` as a source: a whole cluster as its brokers tell it, and of what is costly only what somebody wants.

What they told can be browsed as a tree like znodes: the places are those of kafka-metadata-shell (3.9). It goes as far
as the Kafka protocol does: ACLs, quotas, client ids and the log of the metadata itself are not in it.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from model.cluster import records as r
from model.hosts.kafka_client import ReadingClient
from model.sources.addresses import KafkaAddress
from model.sources.kafka.cluster_survey import ClusterSurvey
from model.sources.kafka.groups import GroupSurvey
from model.sources.kafka.polling_source import ANSWER_S, PollingSource
from model.sources.kafka.views import NOTHING, ClusterView, TopicView, records_between
from model.sources.metadata_tree import TreeNode, TreeReader, folder, quorum_at
from model.sources.source import CONFIGS, COSTLY, GROUPS, LEASE_S, LOG_DIRS

ROOTS = ("brokers", "clusterId", "configs", "features", "logDirs", "metadataQuorum", "topicIds", "topics")


def node_at(view: ClusterView, path: str) -> TreeNode | None:
    """What is at a path; None: there is no such place."""
    parts = tuple(part for part in path.split("/") if part)
    if not parts:
        return TreeNode(names=ROOTS)
    branch = _BRANCHES.get(parts[0])
    return None if branch is None else branch(view, parts[1:])


def _brokers(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    fenced = view.fenced or {}
    brokers = {str(number): broker for number, broker in {**view.brokers, **fenced}.items()}
    match parts:
        case ():
            return folder(brokers)
        case (number,) if number in brokers:
            return folder(("registration",))
        case (number, "registration") if number in brokers:
            broker = brokers[number]
            facts = {"id": int(number), "host": broker.host, "port": broker.port, "rack": broker.rack}
            return TreeNode(facts if view.fenced is None else facts | {"fenced": int(number) in fenced})
        case _:
            return None


def _topics(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    if not parts:
        return folder(view.topics)
    topic = view.topics.get(parts[0])
    if topic is None:
        return None
    numbers = {str(number): number for number in topic.places}
    match parts[1:]:
        case ():
            return folder(("id", "name", *numbers))
        case ("id",):
            return TreeNode(topic.topic_id)
        case ("name",):
            return TreeNode(parts[0])
        case (number,) if number in numbers:
            return folder(("data",))
        case (number, "data") if number in numbers:
            return TreeNode(_partition(topic, numbers[number]))
        case _:
            return None


def _partition(topic: TopicView, number: int) -> Mapping[str, object]:
    place, (adding, removing) = topic.places[number], topic.moves.get(number, ((), ()))
    return {
        "partitionId": number,
        "replicas": place.replicas,
        "isr": place.isr,
        "addingReplicas": adding,
        "removingReplicas": removing,
        "offlineReplicas": place.offline,
        "leader": place.leader,
        "leaderEpoch": place.leader_epoch,
        **({} if place.elr is None else {"elr": place.elr, "lastKnownElr": place.last_known_elr}),
    }


def _topic_ids(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    names = {topic.topic_id: name for name, topic in view.topics.items() if topic.topic_id}
    if not parts:
        return folder(names)
    return TreeNode(names[parts[0]]) if len(parts) == 1 and parts[0] in names else None


def _configs(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    kinds = sorted({entity.partition("/")[0] for entity in view.configs})
    match parts:
        case ():
            return folder(kinds)
        case (kind,) if kind in kinds:
            return folder(name for each, _, name in (entity.partition("/") for entity in view.configs) if each == kind)
        case (kind, name) if f"{kind}/{name}" in view.configs:
            return TreeNode(view.configs[f"{kind}/{name}"])
        case _:
            return None


def _cluster_id(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    return None if parts else TreeNode(view.cluster_id)


def _features(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    if not parts:
        return folder(view.features)
    return TreeNode(view.features[parts[0]]) if len(parts) == 1 and parts[0] in view.features else None


def _log_dirs(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    dirs_of = {str(broker): dirs for broker, dirs in view.log_dirs.items()}
    match parts:
        case ():
            return folder(dirs_of)
        case (broker,) if broker in dirs_of:
            return folder(map(str, range(len(dirs_of[broker]))))
        case (broker, number) if broker in dirs_of and number in map(str, range(len(dirs_of[broker]))):
            found = dirs_of[broker][int(number)]
            facts = {"path": found.path, "error": found.error or None, "replicas": len(found.sizes)}
            sizes = {"bytes": sum(found.sizes.values()), "total": found.total_bytes, "usable": found.usable_bytes}
            return TreeNode(facts | sizes)
        case _:
            return None


def _quorum(view: ClusterView, parts: tuple[str, ...]) -> TreeNode | None:
    quorum = view.quorum
    if quorum is None:
        return None if parts else TreeNode()
    return quorum_at(quorum, parts, has_offsets=True)


_BRANCHES: Mapping[str, Callable[[ClusterView, tuple[str, ...]], TreeNode | None]] = {
    "brokers": _brokers,
    "clusterId": _cluster_id,
    "configs": _configs,
    "features": _features,
    "logDirs": _log_dirs,
    "metadataQuorum": _quorum,
    "topicIds": _topic_ids,
    "topics": _topics,
}


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

    def listing(self, now_ms: int) -> tuple[r.ClusterRecord, ...]:
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

    async def look(self) -> AsyncIterator[tuple[r.ClusterRecord, ...]]:
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

    def _news(self) -> tuple[r.ClusterRecord, ...]:
        view, before = self._cluster.view, self._told
        if view == before:
            return ()
        self._told = view
        self._see(view)
        return tuple(records_between(before, view, time.time_ns() // 1_000_000, self._protocol))

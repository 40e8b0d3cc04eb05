"""What `topics` and `configs` need to print as Kafka's tools do: lines, their order, and brokers to ask.

The tools print what they keep in Java's hash tables in the order of those tables. ZooKeeper does not know defaults
and what brokers have in their files; brokers do.

Source: `kafka.admin.TopicCommand` (0.8.2, 1.1), `org.apache.kafka.tools.TopicCommand` (3.9).
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import click
import msgspec

from model.actions.proposal import ActionRefused
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import MIN_ISR, at_least_one, surroundings
from model.cluster.ids import NO_LEADER
from model.cluster.topic_image import TopicImage, unpadded
from model.consumers.assignors.java_hashing import grown_table, string_hashes, walk
from model.hosts.acting.admin_reads import AdminReads
from model.hosts.acting.carrying_out import UnansweredError
from model.hosts.client_security.values import SecurityError
from model.interchange.topics_text import partition_line, topic_line
from tui.engine.acting.targets import asking
from tui.engine.opening import Opening

_PROPERTIES_TABLE = 16


def hashed(names: Sequence[str], table: int | None = None) -> list[str]:
    """The names in the iteration order of a `java.util.HashMap`; `table` is its number of buckets."""
    return [names[int(place)] for place in walk(string_hashes(names), table)]


def as_properties(config: Mapping[str, str]) -> dict[str, str]:
    """In the iteration order of `java.util.Properties`, a ConcurrentHashMap since Java 9."""
    table = _PROPERTIES_TABLE
    while len(config) >= table * 3 // 4:
        table *= 2
    return {name: config[name] for name in hashed(list(config), table)}


OLD = ("0.8", "0.9-1.x")
"""Generations whose tool printed no space after the colons of a topic's line, and no eligible leader replicas."""
MARK = "MarkedForDeletion"
_TOPIC_SETTINGS_3_9 = 36
"""How many a broker of 3.9 tells of a topic, which decides the order in which the tool prints those that are set."""


class PartitionFilter(msgspec.Struct, frozen=True):
    """Which partitions are printed, by the tool's options; none of the first four: all, and the topics' lines."""

    under_replicated: bool = False
    unavailable: bool = False
    under_min_isr: bool = False
    at_min_isr: bool = False
    with_overrides: bool = False

    @property
    def some(self) -> bool:
        """Whether only some partitions are to be printed."""
        return self.under_replicated or self.unavailable or self.under_min_isr or self.at_min_isr


Configs = Mapping[str, Mapping[str, str]]
"""What differs from the default, by topic, in the order it is printed."""


def describe_lines(
    image: ClusterImage, names: Sequence[str], shown: PartitionFilter, configs: Configs
) -> Iterator[str]:
    """The tool's output, line by line, without line ends."""
    default_min_isr = surroundings(image).min_isr
    for name in _in_order(image, names):
        topic, config = image.topics[name], configs[name]
        deleting = name in image.admin.delete_topics
        if not shown.some and (config or not shown.with_overrides):
            yield _topic_line(image, topic, config, deleting=deleting)
        if shown.with_overrides:
            continue
        min_isr = at_least_one(config.get(MIN_ISR), default_min_isr)
        for row in range(len(topic)):
            if not shown.some or _is_shown(image, topic, row, shown, min_isr):
                yield _partition_line(image, topic, row, deleting=deleting and shown.some)


def settings_in_order(image: ClusterImage, name: str) -> dict[str, str]:
    """What is set on the topic itself, in the order of the tool's hash table."""
    config = image.topic_config(name)
    if image.generation in OLD:
        return as_properties(config)
    table = grown_table(max(_TOPIC_SETTINGS_3_9, len(config)))
    return {each: config[each] for each in hashed(list(config), table)}


def _in_order(image: ClusterImage, names: Sequence[str]) -> list[str]:
    """By name; 3.9 in the order of a hash table with room for so many."""
    if image.generation in OLD:
        return list(names)
    table = 1
    while table < len(names):
        table *= 2
    if len(names) > table * 3 // 4:
        table *= 2
    return hashed(names, table)


def _topic_line(image: ClusterImage, topic: TopicImage, config: Mapping[str, str], *, deleting: bool) -> str:
    if image.generation not in OLD:
        return topic_line(topic, config, deleting=deleting)
    factor = int(topic.replica_count[0]) if len(topic) else 0
    settings = ",".join(f"{name}={value}" for name, value in config.items())
    mark = f"\t{MARK}:true" if deleting and image.generation != "0.8" else ""
    return f"Topic:{topic.name}\tPartitionCount:{len(topic)}\tReplicationFactor:{factor}\tConfigs:{settings}{mark}"


def _partition_line(image: ClusterImage, topic: TopicImage, row: int, *, deleting: bool) -> str:
    if image.generation not in OLD:
        return partition_line(topic, row, deleting=deleting)
    leader = int(topic.leader[row])
    stated = bool(topic.has_state[row])
    mark = f"\t{MARK}: true" if deleting and image.generation != "0.8" else ""
    return (
        f"\tTopic: {topic.name}\tPartition: {int(topic.partitions[row])}\tLeader: {leader if stated else 'none'}"
        f"\tReplicas: {_ids(unpadded(topic.replicas[row]))}\tIsr: {_ids(unpadded(topic.isr[row]))}{mark}"
    )


def _is_shown(image: ClusterImage, topic: TopicImage, row: int, shown: PartitionFilter, min_isr: int) -> bool:
    adding = len(topic.adding.get(int(topic.partitions[row]), ())) if image.generation not in OLD else 0
    isr, leader = int(topic.isr_count[row]), int(topic.leader[row])
    return (
        (shown.under_replicated and isr < int(topic.replica_count[row]) - adding)
        or (shown.unavailable and (leader == NO_LEADER or leader not in image.brokers))
        or (shown.under_min_isr and (leader == NO_LEADER or isr < min_isr))
        or (shown.at_min_isr and isr == min_isr)
    )


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))


@contextlib.contextmanager
def asking_brokers(opening: Opening, brokers: str) -> Iterator[AdminReads]:
    """A connection to the brokers. Raises click.ClickException with the reason on one line."""
    try:
        with asking(opening, brokers) as reads:
            yield reads
    except (ActionRefused, UnansweredError, SecurityError) as error:
        raise click.ClickException(str(error)) from None

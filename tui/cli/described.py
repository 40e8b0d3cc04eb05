"""`kdrill topics list` and `describe`, `kdrill configs describe`: as Kafka's own tools print them, from any SOURCE.

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
from model.cluster.findings.pending_work import pending_work
from model.cluster.ids import NO_LEADER
from model.cluster.texts import HIDDEN, is_sensitive, redacted
from model.cluster.topic_image import TopicImage, unpadded
from model.consumers.assignors.java_hashing import grown_table, string_hashes, walk
from model.hosts.acting.admin_reads import OWN, AdminReads, Described
from model.hosts.acting.carrying_out import UnansweredError
from model.hosts.client_security import SecurityError
from model.interchange.topics_text import partition_line, topic_line
from model.znodes.configs import DEFAULT_ENTITY, desanitise
from tui.cli.following import image_of
from tui.cli.kafka_tools import names_entity
from tui.cli.options import takes_cluster
from tui.cli.output import tell, tell_demo
from tui.engine import proposing
from tui.engine.messages import Opening
from tui.engine.proposing import asking, brokers_of
from tui.engine.text import plain

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


def chosen_topics(
    image: ClusterImage, wanted: str | None, *, exclude_internal: bool = False, if_exists: bool = False
) -> list[str]:
    """As `tui.engine.proposing.chosen_topics`. Raises click.ClickException."""
    try:
        return proposing.chosen_topics(image, wanted, exclude_internal=exclude_internal, if_exists=if_exists)
    except ActionRefused as refusal:
        raise click.ClickException(str(refusal)) from None


@click.command("list")
@takes_cluster
@click.option("--topic", metavar="NAME", help="only these: a name, or a regular expression")
@click.option("--exclude-internal", is_flag=True, help="leave out Kafka's internal topics")
def list_topics(opening: Opening, topic: str | None, exclude_internal: bool) -> None:
    """The names of topics, one per line, and which are marked for deletion.

    \b
    Example: kdrill topics zk://zk1:2181/kafka list
    """
    image = image_of(opening)
    names = chosen_topics(image, topic, exclude_internal=exclude_internal, if_exists=True)
    tell_demo(opening)
    for name in names:
        mark = " - marked for deletion" if name in image.admin.delete_topics else ""
        click.echo(f"{plain(name)}{mark}")
    _tell_marked(image, image.admin.delete_topics)


@click.command()
@takes_cluster
@click.option("--topic", metavar="NAME", help="only these: a name, or a regular expression")
@click.option("--under-replicated-partitions", is_flag=True, help="only partitions with replicas out of sync")
@click.option("--unavailable-partitions", is_flag=True, help="only partitions without a live leader")
@click.option("--under-min-isr-partitions", is_flag=True, help="only partitions below min.insync.replicas")
@click.option("--at-min-isr-partitions", is_flag=True, help="only partitions exactly at min.insync.replicas")
@click.option("--topics-with-overrides", is_flag=True, help="only topics with overridden settings, without partitions")
@click.option("--exclude-internal", is_flag=True, help="leave out Kafka's internal topics")
@click.option("--if-exists", is_flag=True, help="no error if there is no such topic")
def describe_topics(
    opening: Opening,
    topic: str | None,
    under_replicated_partitions: bool,
    unavailable_partitions: bool,
    under_min_isr_partitions: bool,
    at_min_isr_partitions: bool,
    topics_with_overrides: bool,
    exclude_internal: bool,
    if_exists: bool,
) -> None:
    """Topics and their partitions, as kafka-topics.sh --describe prints them.

    ZooKeeper does not know what brokers have in their files: with --bootstrap, or a kafka:// SOURCE, they are asked.

    \b
    Example: kdrill topics zk://zk1:2181/kafka describe --topic orders
    """
    image = image_of(opening)
    names = chosen_topics(image, topic, exclude_internal=exclude_internal, if_exists=if_exists)
    shown = PartitionFilter(
        under_replicated_partitions,
        unavailable_partitions,
        under_min_isr_partitions,
        at_min_isr_partitions,
        topics_with_overrides,
    )
    brokers = brokers_of(opening)
    configs = _asked(opening, brokers, names) if brokers else {name: settings_in_order(image, name) for name in names}
    tell_demo(opening)
    for line in describe_lines(image, names, shown, configs):
        click.echo("\t".join(map(plain, line.split("\t"))))
    _tell_marked(image, image.admin.delete_topics.intersection(names))


def _asked(opening: Opening, brokers: str, names: Sequence[str]) -> Configs:
    """Settings that differ from the default, in the order of the tool's hash table."""
    with asking_brokers(opening, brokers) as reads:
        described = reads.described("topic", names)
    set_somewhere = {
        name: {each.name: each.value or "null" for each in told if not each.is_default}
        for name, told in described.items()
    }
    orders = {name: hashed([each.name for each in told]) for name, told in described.items()}
    return {name: {key: found[key] for key in orders[name] if key in found} for name, found in set_somewhere.items()}


def _tell_marked(image: ClusterImage, names: frozenset[str]) -> None:
    """Why topics that are marked for deletion are still there, on standard error."""
    for work in pending_work(image) if names else ():
        if work.kind == "delete" and work.topic in names:
            tell(f"{work.topic} is marked for deletion and waits for {work.waits_for}")


_TITLES = {"topics": "topic", "brokers": "brokers", "clients": "client-id", "users": "user-principal", "ips": "ips"}
"""How `ConfigCommand` calls one of each, by ZooKeeper."""


@click.command()
@takes_cluster
@names_entity
@click.option("--all", "everything", is_flag=True, help="defaults too; needs brokers to ask")
def describe_configs(opening: Opening, kind: str, name: str | None, everything: bool) -> None:
    """What is set on a topic, a broker, all brokers, clients or users. Secrets are hidden.

    Brokers, with --bootstrap or a kafka:// SOURCE, know defaults and their own files.

    \b
    Example: kdrill configs zk://zk1:2181/kafka describe --entity-type topics --entity-name orders
    """
    image = image_of(opening)
    names = [name] if name is not None else _names(image, kind)
    if kind == "topics" and name is not None and name not in image.topics:
        raise click.ClickException(f"topic {name!r} does not exist")
    brokers = brokers_of(opening)
    if brokers and kind in ("topics", "brokers"):
        lines = list(_told(opening, brokers, kind.removesuffix("s"), names, everything=everything))
    elif everything:
        raise click.UsageError("--all needs brokers to ask, who know the defaults: name some with --bootstrap")
    else:
        lines = [_zookeeper_line(image, kind, each) for each in names]
    tell_demo(opening)
    for line in lines:
        click.echo(plain(line))


def _names(image: ClusterImage, kind: str) -> list[str]:
    if kind == "topics":
        return sorted(image.topics)
    if kind == "brokers":
        return [*map(str, sorted(image.brokers)), DEFAULT_ENTITY]
    return sorted(entity.partition("/")[2] for entity in image.configs if entity.startswith(f"{kind}/"))


def _zookeeper_line(image: ClusterImage, kind: str, name: str) -> str:
    config = redacted(f"{kind}/{name}", image.configs.get(f"{kind}/{name}", {}))
    settings = ",".join(f"{key}={value}" for key, value in as_properties(config).items())
    title = _TITLES[kind]
    if name == DEFAULT_ENTITY:
        return f"Configs for default {title} are {settings}"
    return f"Configs for {title} '{desanitise(name) if kind in ('clients', 'users') else name}' are {settings}"


def _told(opening: Opening, brokers: str, kind: str, names: Sequence[str], *, everything: bool) -> Iterator[str]:
    with asking_brokers(opening, brokers) as reads:
        asked = ["" if name == DEFAULT_ENTITY else name for name in names]
        described = reads.described(kind, asked)
    for name in asked:
        head = "All" if everything else "Dynamic"
        yield f"{head} configs for {kind} {name} are:" if name else f"Default configs for {kind}s in the cluster are:"
        own = OWN[kind if name else "default"]
        for each in sorted(described[name], key=lambda one: one.name):
            if everything or each.source == own:
                yield _broker_line(f"{kind}s/{name}", each)


def _broker_line(entity: str, each: Described) -> str:
    hidden = each.is_sensitive or is_sensitive(entity, each.name)
    synonyms = ", ".join(f"{source}:{name}={_value(value, hidden=hidden)}" for source, name, value in each.synonyms)
    value = _value(each.value, hidden=hidden)
    return f"  {each.name}={value} sensitive={str(each.is_sensitive).lower()} synonyms={{{synonyms}}}"


def _value(value: str | None, *, hidden: bool) -> str:
    """Brokers return null for a secret; what looks like one here is hidden all the same."""
    return "null" if value is None else HIDDEN if hidden else value

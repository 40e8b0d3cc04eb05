"""`kdrill topics list` and `describe`, `kdrill configs describe`: as Kafka's own tools print them, from any SOURCE."""

from collections.abc import Iterator, Sequence

import click

from model.actions.proposal import ActionRefused
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.pending_work import pending_work
from model.cluster.texts import HIDDEN, is_sensitive, redacted
from model.hosts.acting.admin_reads import OWN, Described
from model.znodes.configs import DEFAULT_ENTITY, desanitise
from tui.cli.configs import names_entity
from tui.cli.following import image_of
from tui.cli.kafka_tools import (
    Configs,
    PartitionFilter,
    as_properties,
    asking_brokers,
    describe_lines,
    hashed,
    settings_in_order,
)
from tui.cli.options import takes_cluster
from tui.cli.output import tell, tell_demo
from tui.engine.acting import targets
from tui.engine.acting.targets import brokers_of
from tui.engine.opening import Opening
from tui.engine.text import plain


def chosen_topics(
    image: ClusterImage, wanted: str | None, *, exclude_internal: bool = False, if_exists: bool = False
) -> list[str]:
    """As `tui.engine.acting.targets.chosen_topics`. Raises click.ClickException."""
    try:
        return targets.chosen_topics(image, wanted, exclude_internal=exclude_internal, if_exists=if_exists)
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

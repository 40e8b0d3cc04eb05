"""`kdrill configs describe`: as kafka-configs.sh prints settings, from ZooKeeper's view or the brokers'."""

from collections.abc import Iterator, Sequence

import click

from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import HIDDEN, is_sensitive, redacted
from model.hosts.acting.admin_reads import OWN, Described
from model.znodes.configs import DEFAULT_ENTITY, desanitise
from tui.cli.configs import names_entity
from tui.cli.following import image_of
from tui.cli.kafka_tools import as_properties, asking_brokers
from tui.cli.options import takes_cluster
from tui.cli.output import tell_demo
from tui.engine.acting.targets import brokers_of
from tui.engine.opening import Opening
from tui.engine.text import plain

_TITLES = {"topics": "topic", "brokers": "brokers", "clients": "client-id", "users": "user-principal", "ips": "ips"}
"""How `ConfigCommand` calls one of each, by ZooKeeper."""


@click.command()
@takes_cluster
@names_entity
@click.option("--all", "everything", is_flag=True, help="with brokers to ask: defaults, too")
def describe(opening: Opening, kind: str, name: str | None, everything: bool) -> None:
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

"""`kdrill configs` and `kdrill topics`: what kafka-configs.sh and kafka-topics.sh do, in their words; here what alters.

Settings are typed as `--config name=value`, `--add-config a=1,b=[x,y]`, `--delete-config a,b` (`ConfigCommand`, 3.9).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any

import click

from model.broker.settings.catalogue import said_of
from model.controller.topic_validation import topic_name_problem
from model.znodes.configs import DEFAULT_ENTITY, sanitise
from tui.cli.act import ActionCommand
from tui.cli.main import Verbs
from tui.engine.questions import AddPartitions, AlterConfigs, CreateTopic, DeleteTopics

Command = Callable[..., Any]
KINDS = ("topics", "brokers", "clients", "users", "ips")


def names_entity(command: Command) -> Command:
    """The command gets `kind`, and `name`: None for all of the kind, `<default>` for their defaults."""

    @click.option("--entity-type", type=click.Choice(KINDS), help="kind of entity")
    @click.option("--entity-name", metavar="NAME", help="its name")
    @click.option("--entity-default", is_flag=True, help="the defaults of all of them")
    @click.option("--topic", metavar="NAME", help="the same as --entity-type topics --entity-name")
    @click.option("--broker", metavar="ID", help="the same as --entity-type brokers --entity-name")
    @click.option("--broker-defaults", is_flag=True, help="the same as --entity-type brokers --entity-default")
    @wraps(command)
    def with_entity(
        entity_type: str | None,
        entity_name: str | None,
        entity_default: bool,
        topic: str | None,
        broker: str | None,
        broker_defaults: bool,
        **others: Any,
    ) -> Any:
        named = [
            *([("topics", topic)] if topic is not None else []),
            *([("brokers", broker)] if broker is not None else []),
            *([("brokers", DEFAULT_ENTITY)] if broker_defaults else []),
            *([(entity_type, DEFAULT_ENTITY if entity_default else entity_name)] if entity_type else []),
        ]
        if len(named) != 1 or (entity_default and entity_name is not None):
            raise click.UsageError("name one entity: --entity-type with --entity-name, --topic, --broker, or defaults")
        kind, name = named[0]
        if kind in ("clients", "users") and name not in (None, DEFAULT_ENTITY):
            name = sanitise(name)
        return command(kind=kind, name=name, **others)

    return with_entity


_COMMA = re.compile(r",(?=[^\]]*(?:\[|$))")
_NAME = re.compile(r"[a-zA-Z0-9._-]+")


def settings_of(texts: Iterable[str]) -> dict[str, str]:
    """`name=value` each. Raises click.UsageError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not _NAME.fullmatch(name.strip()):
            raise click.UsageError(f"{text!r}: write name=value")
        found[name.strip()] = value.strip()
    return found


def listed_settings(texts: Iterable[str]) -> dict[str, str]:
    """Lists of `name=value`, with commas; brackets hold a value that has commas itself (`ConfigCommand`, 3.9)."""
    each = (part for text in texts for part in _COMMA.split(text))
    return {name: re.sub(r"[\[\]]", "", value) for name, value in settings_of(each).items()}


def listed_names(texts: Iterable[str]) -> tuple[str, ...]:
    """Lists of names with commas between."""
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def checked(kind: str, wanted: Mapping[str, str]) -> tuple[str, ...]:
    """Warnings about unknown names. Raises click.UsageError for a value that no broker accepts."""
    said = said_of(kind, wanted)
    if said.refusals:
        raise click.UsageError("; ".join(said.refusals))
    return said.remarks


@click.command("alter", cls=ActionCommand)
@names_entity
@click.option(
    "--add-config", multiple=True, metavar="NAME=VALUE,…", help="settings to set; [a,b] is a value with commas"
)
@click.option("--delete-config", multiple=True, metavar="NAME,…", help="settings to put back to their defaults")
def alter_configs(
    kind: str, name: str | None, add_config: tuple[str, ...], delete_config: tuple[str, ...]
) -> AlterConfigs:
    """Set or remove settings of a topic, a broker, or all brokers.

    Values are checked against their types, names against those that Kafka knows.

    \b
    Example: kdrill configs zk://zk1:2181/kafka alter --topic orders --add-config retention.ms=3600000 --allow-writes
    """
    if name is None:
        raise click.UsageError("--entity-name is missing")
    if kind == "topics" and (problem := topic_name_problem(name)):
        raise click.UsageError(problem.message)
    request = AlterConfigs(kind, name, listed_settings(add_config), listed_names(delete_config))
    if not request.add and not request.remove:
        raise click.UsageError("--add-config or --delete-config is missing")
    checked(kind, request.add)
    return request


@click.group(
    "configs", cls=Verbs, places={"describe": "described:describe_configs", "alter": "kafka_tools:alter_configs"}
)
def configs() -> None:
    """Describe and alter settings of topics and brokers, in the words of kafka-configs.sh.

    \b
    Example: kdrill configs zk://zk1:2181/kafka describe --entity-type topics --entity-name orders
             kdrill configs prod-eu1 alter --topic orders --add-config retention.ms=3600000 --allow-writes
    """


Replicas = tuple[tuple[int, ...], ...]

assignment_option = click.option(
    "--replica-assignment", metavar="1:2,2:3", help="brokers of each partition in turn, the preferred leader first"
)
racks_option = click.option("--disable-rack-aware", is_flag=True, help="place replicas without regard to racks")


def assigned(text: str | None, count: int | None = None, factor: int | None = None) -> Replicas:
    """The replicas of each partition; empty without the option. Raises click.UsageError."""
    if text is None:
        return ()
    if count is not None or factor is not None:
        raise click.UsageError("--replica-assignment says how many there are: leave --partitions and "
                               "--replication-factor out")  # fmt: skip
    try:
        return tuple(tuple(int(broker) for broker in each.split(":")) for each in text.split(","))
    except ValueError:
        raise click.UsageError(f"--replica-assignment {text!r}: write brokers as 1:2,2:3") from None


class _Create(ActionCommand):
    """Takes Kafka's `--config name=value`, although `--config` names our own file everywhere."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [word for arg in args for word in (arg.split("=", 1) if arg.startswith("--config=") else [arg])]
        pairs = zip(words, [*words[1:], ""], strict=True)
        return super().parse_args(
            ctx, ["--topic-config" if word == "--config" and "=" in value else word for word, value in pairs]
        )


@click.command("create", cls=_Create)
@click.option("--topic", metavar="NAME", required=True, help="the topic")
@click.option("--partitions", "count", type=int, metavar="N", help="how many partitions")
@click.option("--replication-factor", type=int, metavar="N", help="how many replicas of each")
@assignment_option
@click.option(
    "--topic-config", "configs", multiple=True, metavar="NAME=VALUE", help="a topic setting; also --config NAME=VALUE"
)
@click.option("--if-not-exists", is_flag=True, help="no error if it exists already")
@racks_option
def create_topic(
    topic: str,
    count: int | None,
    replication_factor: int | None,
    replica_assignment: str | None,
    configs: Sequence[str],
    if_not_exists: bool,
    disable_rack_aware: bool,
) -> CreateTopic:
    """Create a topic. Its replicas are placed as Kafka places them, and shown before they are written.

    \b
    Example: kdrill topics zk://zk1:2181 create --topic orders --partitions 3 --replication-factor 2 --allow-writes
    """
    if problem := topic_name_problem(topic):  # before it becomes part of a path
        raise click.UsageError(problem.message)
    settings = settings_of(configs)
    checked("topics", settings)
    return CreateTopic(
        topic=topic,
        partitions=count,
        replication_factor=replication_factor,
        assignment=assigned(replica_assignment, count, replication_factor),
        configs=settings,
        ignores_racks=disable_rack_aware,
        if_not_exists=if_not_exists,
    )


@click.command("alter", cls=ActionCommand)
@click.option("--topic", metavar="NAME", required=True, help="a name, or a regular expression that matches one topic")
@click.option("--partitions", "count", type=int, metavar="N", help="total number of partitions")
@click.option("--replication-factor", type=int, hidden=True)
@assignment_option
@racks_option
@click.option("--if-exists", is_flag=True, help="no error if there is no such topic")
def alter_topic(
    topic: str,
    count: int | None,
    replication_factor: int | None,
    replica_assignment: str | None,
    disable_rack_aware: bool,
    if_exists: bool,
) -> AddPartitions:
    """Add partitions to a topic. Settings are changed by kdrill configs, replicas by kdrill act reassign.

    --replica-assignment names the brokers of all partitions; existing partitions are skipped.

    \b
    Example: kdrill topics zk://zk1:2181/kafka alter --topic orders --partitions 6 --allow-writes
    """
    if replication_factor is not None:
        raise click.UsageError(
            f"other replicas are a reassignment: kdrill plan SOURCE --topic {topic} --replication-factor "
            f"{replication_factor} -o plan.json, then kdrill act SOURCE reassign plan.json"
        )
    if count is None:
        raise click.UsageError("--partitions is missing; settings are changed by kdrill configs SOURCE alter")
    return AddPartitions(
        topic=topic,
        partitions=count,
        assignment=assigned(replica_assignment),
        ignores_racks=disable_rack_aware,
        if_exists=if_exists,
    )


@click.command("delete", cls=ActionCommand)
@click.option("--topic", metavar="NAME", required=True, help="names, or a regular expression")
@click.option("--if-exists", is_flag=True, help="no error if there is no such topic")
def delete_topics(topic: str, if_exists: bool) -> DeleteTopics:
    """Delete topics with all their records. Asks for the names to be typed, unless --yes is given.

    \b
    Example: kdrill topics zk://zk1:2181/kafka delete --topic orders --allow-writes
    """
    return DeleteTopics(topic, if_exists)


@click.group(
    "topics",
    cls=Verbs,
    places={
        "list": "described:list_topics",
        "describe": "described:describe_topics",
        "create": "kafka_tools:create_topic",
        "alter": "kafka_tools:alter_topic",
        "delete": "kafka_tools:delete_topics",
    },
)
def topics() -> None:
    """List, describe, create, alter and delete topics, in the words of kafka-topics.sh.

    \b
    Example: kdrill topics zk://zk1:2181/kafka describe --topic orders
             kdrill topics prod-eu1 create --topic orders --partitions 3 --replication-factor 2 --allow-writes
    """

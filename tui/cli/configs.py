"""`kdrill configs`: what kafka-configs.sh does, in its words; here its options and `alter`.

Settings are typed as `--config name=value`, `--add-config a=1,b=[x,y]`, `--delete-config a,b` (`ConfigCommand`, 3.9).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

import click

from model.broker.settings.catalogue import said_of
from model.controller.topic_validation import topic_name_problem
from model.znodes.configs import DEFAULT_ENTITY, sanitise
from tui.cli.act import ActionCommand
from tui.cli.main import Verbs
from tui.engine.questions import AlterConfigs

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


@click.command(cls=ActionCommand)
@names_entity
@click.option(
    "--add-config", multiple=True, metavar="NAME=VALUE,…", help="settings to set; [a,b] is a value with commas"
)
@click.option("--delete-config", multiple=True, metavar="NAME,…", help="settings to put back to their defaults")
def alter(kind: str, name: str | None, add_config: tuple[str, ...], delete_config: tuple[str, ...]) -> AlterConfigs:
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


PLACES = {"describe": "described:describe_configs", "alter": "configs:alter"}


@click.group("configs", cls=Verbs, places=PLACES)
def configs() -> None:
    """Describe and alter settings of topics and brokers, in the words of kafka-configs.sh.

    \b
    Example: kdrill configs zk://zk1:2181/kafka describe --entity-type topics --entity-name orders
             kdrill configs prod-eu1 alter --topic orders --add-config retention.ms=3600000 --allow-writes
    """

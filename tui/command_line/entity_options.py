"""The options of kafka-configs.sh that name an entity."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from model.znodes.configs import DEFAULT_ENTITY, sanitise

Command = Callable[..., Any]
KINDS = ("topics", "brokers", "clients", "users", "ips")


def names_entity(command: Command) -> Command:
    """The command gets `kind`, and `name`: None for all of the kind, `<default>` for their defaults."""

    @click.option("--entity-type", type=click.Choice(KINDS), help="of what")
    @click.option("--entity-name", metavar="NAME", help="which one")
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

"""`kdrill configs`: what kafka-configs.sh does, in its words, on any SOURCE."""

import click

from tui.command_line.verbs import Verbs

PLACES = {"describe": "configs_shown:describe", "alter": "configs_changed:alter"}


@click.group("configs", cls=Verbs, places=PLACES)
def configs() -> None:
    """Describe and alter settings of topics and brokers, in the words of kafka-configs.sh.

    \b
    Example: kdrill configs zk://zk1:2181/kafka describe --entity-type topics --entity-name orders
             kdrill configs prod-eu1 alter --topic orders --add-config retention.ms=3600000 --allow-writes
    """

"""`kdrill topics`: what kafka-topics.sh does, in its words, on any SOURCE."""

import click

from tui.command_line.verbs import Verbs

PLACES = {
    "list": "topics_shown:list_topics",
    "describe": "topics_shown:describe",
    "create": "topics_created:create",
    "alter": "topics_changed:alter",
    "delete": "topics_changed:delete",
}


@click.group("topics", cls=Verbs, places=PLACES)
def topics() -> None:
    """List, describe, create, alter and delete topics, in the words of kafka-topics.sh.

    \b
    Example: kdrill topics zk://zk1:2181/kafka describe --topic orders
             kdrill topics prod-eu1 create --topic orders --partitions 3 --replication-factor 2 --allow-writes
    """

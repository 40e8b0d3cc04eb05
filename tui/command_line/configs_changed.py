"""`kdrill configs alter`: proposed, confirmed, carried out."""

import click

from model.controller.topic_names import topic_name_problem
from tui.command_line.action_command import ActionCommand
from tui.command_line.entity_options import names_entity
from tui.command_line.setting_options import checked, listed_names, listed_settings
from tui.data.acting.requests import AlterConfigs


@click.command(cls=ActionCommand)
@names_entity
@click.option("--add-config", multiple=True, metavar="NAME=VALUE,…", help="to be set; [a,b] is a value with commas")
@click.option("--delete-config", multiple=True, metavar="NAME,…", help="back to the default")
def alter(kind: str, name: str | None, add_config: tuple[str, ...], delete_config: tuple[str, ...]) -> AlterConfigs:
    """Set settings of a topic, a broker, or all brokers, or take them away.

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

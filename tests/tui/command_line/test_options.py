"""What SOURCE, configuration and options together open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tui.cli.main import kdrill
from tui.cli.options import takes_opening
from tui.engine.messages import Opening

CONFIG = """
[clusters.eu]
zookeeper = ["zk1:2181"]
kafka = ["b1:9092", "b2:9092"]
"""


def opened(*words: str | Path) -> Opening:
    @click.command()
    @takes_opening
    def command(opening: Opening) -> Opening:
        return opening

    return command.main([*map(str, words)], standalone_mode=False)


@pytest.mark.parametrize(
    ("words", "source", "bootstrap"),
    [
        ("zk://zk1:2181/kafka", "zk://zk1:2181/kafka", ""),
        ("zk://zk1:2181/kafka --bootstrap b1,[::1]:9093", "zk://zk1:2181/kafka", "b1:9092,[::1]:9093"),
        ("eu", "zk://zk1:2181", "b1:9092,b2:9092"),
        ("eu --bootstrap b3:9092", "zk://zk1:2181", "b3:9092"),
        ("--bootstrap b3:9092", "kafka://b3:9092", "b3:9092"),
        ("", "", ""),
    ],
)
def test_brokers_are_named_beside_a_source_or_instead_of_one(
    tmp_path: Path, words: str, source: str, bootstrap: str
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIG)
    opening = opened(*words.split(), "--config", config)
    assert (opening.source, opening.bootstrap) == (source, bootstrap)


@pytest.mark.parametrize("text", ["b1:port", "b1/kafka", "zk://b1:2181", ","])
def test_what_names_no_broker_is_told_with_how_to_write_it(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"write host:port\[,host:port…\]"):
        opened("zk://zk1:2181", "--bootstrap", text)


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("ue", "did you mean eu?"),
        ("nowhere", "CONFIG names eu"),
        ("nowhere.json", "CONFIG names eu"),
        ("a:2181", "CONFIG names eu; for a ZooKeeper write zk://a:2181, for brokers kafka://a:2181"),
    ],
)
def test_what_is_neither_a_file_nor_a_cluster_is_told_with_the_clusters_there_are(
    tmp_path: Path, name: str, way_out: str
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIG)
    with pytest.raises(click.ClickException) as refused:
        opened(name, "--config", config)
    said = refused.value.format_message().replace(str(config), "CONFIG")
    assert said == f"{name!r}: no such file, and no such cluster: {way_out}"


def test_where_no_cluster_has_a_name_that_is_said(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.touch()
    with pytest.raises(
        click.ClickException, match=r"'prod': no such file, and no such cluster: .*config\.toml names none$"
    ):
        opened("prod", "--config", config)


SHARED = ("--bootstrap", "--connect-timeout", "--timeout", "--poll", "--max-reads-per-second", "--command-config")
LAST = ("--config", "--no-color", "--help")


def commands(group: click.Group, name: str = "kdrill") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        yield f"{name} {word}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {word}")


@pytest.mark.parametrize(("name", "command"), commands(kdrill), ids=lambda each: each if isinstance(each, str) else "")
def test_help_begins_with_the_options_of_the_command_itself(name: str, command: click.Command) -> None:
    options = [each.opts[0] for each in command.get_params(click.Context(command)) if isinstance(each, click.Option)]
    shared = [option for option in options if option in (*SHARED, *LAST)]
    assert options[len(options) - len(shared) :] == shared, name
    assert shared == [option for option in (*SHARED, *LAST) if option in shared], name

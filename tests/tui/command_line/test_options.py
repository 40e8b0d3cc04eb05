"""What SOURCE, configuration and options together open."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tui.command_line.options import takes_opening
from tui.data.opening import Opening

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

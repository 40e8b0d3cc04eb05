"""What is typed behind the colon: every word leads where it says, and anything else is one clear line."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.commands import WORDS, CommandError, completed, parse_command


@dataclass
class Told:
    """Something commands can be carried out on; it remembers what it was told."""

    told: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    def action_leave(self) -> None:
        self.told.append(("leave",))

    def action_help(self) -> None:
        self.told.append(("help",))

    def action_theme(self) -> None:
        self.told.append(("theme",))

    def action_alerts(self) -> None:
        self.told.append(("alerts",))

    def show_screen(self, name: str) -> None:
        self.told.append(("screen", name))

    def show_znode(self, path: str) -> None:
        self.told.append(("znode", path))

    def show_partitions(self, text: str) -> None:
        self.told.append(("partitions", text))

    def show_group(self, name: str) -> None:
        self.told.append(("group", name))

    def wish(self, verb: str, about: str) -> None:
        self.told.append((verb, about))


def told_by(line: str) -> tuple[str, ...]:
    app = Told()
    parse_command(line)(app)
    return app.told[0]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("zk /brokers/ids", ("znode", "/brokers/ids")),
        ("zk brokers/ids/", ("znode", "/brokers/ids")),
        ("zk /", ("znode", "/")),
        ("topic orders", ("partitions", "topic:orders")),
        ("broker 5", ("partitions", "broker:5")),
        ("group my group", ("group", "my group")),
        ("fill 2", ("fill", "2")),
        ("corrupt 2 orders-0", ("corrupt", "2 orders-0")),
        ("rate 500", ("rate", "500")),
        ("failover", ("failover", "")),
        ("failover loaded", ("failover", "loaded")),
        ("audit", ("audit", "")),
        ("save drill.toml", ("save", "drill.toml")),
        ("overview", ("screen", "overview")),
        ("znodes", ("screen", "znodes")),
        ("partitions", ("screen", "partitions")),
        ("consumers", ("screen", "consumers")),
        ("alerts", ("alerts",)),
        ("theme", ("theme",)),
        ("help", ("help",)),
        ("q", ("leave",)),
        ("  part  ", ("screen", "partitions")),
    ],
)
def test_a_command_leads_where_it_says(line: str, told: tuple[str, ...]) -> None:
    assert told_by(line) == told


@pytest.mark.parametrize("line", ["drop", "z", "t", "zk", "topic  ", "broker", "ZK /"])
def test_what_is_no_command_is_one_line_that_says_the_way_out(line: str) -> None:
    with pytest.raises(CommandError, match=r"^[^\n]*(try|needs)[^\n]*$"):
        parse_command(line)


def test_a_doubtful_word_names_what_it_may_be() -> None:
    with pytest.raises(CommandError, match=r"try zk, znodes$"):
        parse_command("z")


@pytest.mark.parametrize(
    ("typed", "finished"),
    [("top", "topic "), ("ov", "overview"), ("z", "z"), ("", ""), ("xyz", "xyz"), ("topic or", "topic or")],
)
def test_a_word_is_finished_where_there_is_no_doubt(typed: str, finished: str) -> None:
    assert completed(typed) == finished


@given(st.text())
def test_any_line_is_a_command_or_an_error_in_one_line(line: str) -> None:
    failures: list[str] = []
    try:
        parse_command(line)
    except CommandError as error:
        failures.append(str(error))
    assert not any("\n" in failure for failure in failures)


@given(st.text(max_size=6) | st.sampled_from([*WORDS]).flatmap(lambda word: st.just(word[:3])))
def test_finishing_only_adds(typed: str) -> None:
    assert completed(typed).startswith(typed)

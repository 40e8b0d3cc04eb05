"""What is typed behind the colon: every word leads where it says, and anything else is one clear line."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.app.commands import WORDS, completed, parse_command
from tui.cli import typed_requests
from tui.engine.actions import CommandError
from tui.engine.history.queries import MarkMoment, SaveSnapshot
from tui.engine.messages import ActionRequest
from tui.engine.queries import SandboxRequest, WritePlan
from tui.engine.view_state import ViewState


@dataclass
class Told:
    """Something commands can be carried out on; it remembers what it was told."""

    told: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    view_state: ViewState = field(default_factory=ViewState)

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

    def add_broker(self, broker: int, rack: str) -> None:
        self.told.append(("broker", str(broker), rack))

    def make_up(self, patterns: tuple[str, ...], consumers: int) -> None:
        self.told.append(("made up", *patterns, str(consumers)))

    def show_logs(self, folder: str) -> None:
        self.told.append(("logs", folder))

    def look_up(self, wanted: str) -> None:
        self.told.append(("look up", wanted))

    def go_in_time(self, to: str, text: str) -> None:
        self.told.append((to, text))

    def go_live(self) -> None:
        self.told.append(("live",))

    def wish(self, wish: ActionRequest) -> None:
        match wish:
            case SandboxRequest(verb=verb, about=about):
                self.told.append((verb, about))
            case WritePlan(path=path, by_batch=by_batch):
                self.told.append(("plan-batches" if by_batch else "plan", path))
            case SaveSnapshot(path=text) | MarkMoment(note=text):
                self.told.append(("snapshot" if isinstance(wish, SaveSnapshot) else "mark", text))
            case _:
                raise AssertionError(wish)

    def act(self, words: str) -> None:
        self.told.append(("act", words))

    def request(self, words: str) -> None:
        self.told.append(("request", words))

    def export(self, name: str) -> None:
        self.told.append(("export", name))

    def switch(self, name: str) -> None:
        self.told.append(("switch", name))

    def show_history(self, folder: str) -> None:
        self.told.append(("history", folder))

    def compare(self, text: str) -> None:
        self.told.append(("compare", text))

    def set_notices(self, wanted: str) -> None:
        self.told.append(("notices", wanted))

    def begin_tour(self) -> None:
        self.told.append(("tour",))

    def show_jobs(self) -> None:
        self.told.append(("jobs",))

    def stop_jobs(self) -> None:
        self.told.append(("stop",))


def told_by(line: str) -> tuple[str, ...]:
    app = Told()
    parse_command(line)(app)
    return app.told[0]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("history", ("history", "")),
        ("history /var/kept", ("history", "/var/kept")),
        ("zk /brokers/ids", ("znode", "/brokers/ids")),
        ("zk brokers/ids/", ("znode", "/brokers/ids")),
        ("zk /", ("znode", "/")),
        ("topic orders", ("partitions", "topic:orders")),
        ("broker 5", ("partitions", "broker:5")),
        ("export seen.csv", ("export", "seen.csv")),
        ("ctx prod-eu1", ("switch", "prod-eu1")),
        ("group my group", ("group", "my group")),
        ("logs", ("logs", "")),
        ("logs /var/kafka logs", ("logs", "/var/kafka logs")),
        ("offset 51", ("look up", "offset 51")),
        ("time 2026-03-01T12:03:58Z", ("look up", "time 2026-03-01T12:03:58Z")),
        ("fill 2", ("fill", "2")),
        ("corrupt 2 orders-0", ("corrupt", "2 orders-0")),
        ("rate 500", ("rate", "500")),
        ("failover", ("failover", "")),
        ("failover loaded", ("failover", "loaded")),
        ("audit", ("audit", "")),
        ("save drill.toml", ("save", "drill.toml")),
        ("add 9:r1", ("broker", "9", "r1")),
        ("add 9", ("broker", "9", "")),
        ("plan p.json", ("plan", "p.json")),
        ("reassign", ("act", "reassign")),
        ("reassign 50MB", ("act", "reassign 50MB")),
        ("elect orders-0", ("act", "elect orders-0")),
        ("topics delete --topic orders", ("request", "topics delete --topic orders")),
        ("configs alter", ("request", "configs alter")),
        ("act elect-preferred", ("request", "act elect-preferred")),
        ("batches p.json", ("plan-batches", "p.json")),
        ("readers orders*,pay* 4", ("made up", "orders*", "pay*", "4")),
        ("with orders*:rf=4 7:r3", ("screen", "forecast")),
        ("next leader", ("mark-after", "leader")),
        ("before faults", ("mark-before", "faults")),
        ("compare e7", ("compare", "e7")),
        ("notify off", ("notices", "off")),
        ("jobs", ("jobs",)),
        ("tour", ("tour",)),
        ("stop", ("stop",)),
        ("overview", ("screen", "overview")),
        ("znodes", ("screen", "znodes")),
        ("partitions", ("screen", "partitions")),
        ("consumers", ("screen", "consumers")),
        ("findings", ("alerts",)),
        ("alerts", ("alerts",)),
        ("at -5m", ("time", "-5m")),
        ("at 12:03:58", ("time", "12:03:58")),
        ("live", ("live",)),
        ("snapshot before.json", ("snapshot", "before.json")),
        ("theme", ("theme",)),
        ("help", ("help",)),
        ("q", ("leave",)),
        ("  part  ", ("screen", "partitions")),
    ],
)
def test_a_command_leads_where_it_says(line: str, told: tuple[str, ...]) -> None:
    assert told_by(line) == told


def test_what_is_put_beside_a_forecast_takes_the_place_of_what_was_there() -> None:
    app = Told()
    parse_command("with orders*:min.insync.replicas=2 7:r3 8")(app)
    assert app.view_state.forecast.settings == (("orders*", "min.insync.replicas", "2"),)
    assert app.view_state.forecast.add == ((7, "r3"), (8, ""))
    with pytest.raises(CommandError, match="there is no plan yet"):
        parse_command("with plan")(app)
    parse_command("with")(app)
    assert app.view_state == ViewState()


@pytest.mark.parametrize(
    "line",
    [
        "drop",
        "z",
        "t",
        "zk",
        "topic  ",
        "broker",
        "topics",
        "act ",
        "ZK /",
        "add",
        "add x:r1",
        "add :r1",
        "readers",
        "readers 4",
        "with nothing",
        "with orders:rf=x",
        "with orders:retention.ms=5",
    ],
)
def test_what_is_no_command_is_one_line_that_says_the_way_out(line: str) -> None:
    with pytest.raises(CommandError, match=r"^[^\n]*(try|needs)[^\n]*$"):
        parse_command(line)


def test_a_doubtful_word_names_what_it_may_be() -> None:
    with pytest.raises(CommandError, match=r"try zk, znodes$"):
        parse_command("z")


@pytest.mark.parametrize(
    ("typed", "finished"),
    [
        ("top", "topic"),
        ("topic", "topic "),
        ("ov", "overview"),
        ("z", "z"),
        ("", ""),
        ("xyz", "xyz"),
        ("topic or", "topic or"),
    ],
)
def test_a_word_is_finished_where_there_is_no_doubt(typed: str, finished: str) -> None:
    assert completed(typed, lambda: typed_requests) == finished


@pytest.mark.parametrize(
    ("typed", "finished"), [("ctx ", "ctx sandbox"), ("ctx sandbox-", "ctx sandbox-kraft"), ("ctx prod", "ctx prod")]
)
def test_the_name_of_a_cluster_is_finished_from_nothing_on(typed: str, finished: str) -> None:
    assert completed(typed, lambda: typed_requests, ["sandbox", "sandbox-kraft"]) == finished


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
    assert completed(typed, lambda: typed_requests).startswith(typed)

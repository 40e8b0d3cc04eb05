"""The words of the command line behind the colon: the same options and refusals, and nothing of where or how."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.actions import Reset
from model.cluster.ids import TopicPartition
from tui.app.commands import REQUESTS, completed
from tui.cli import typed_requests
from tui.cli.typed_requests import elsewhere, offered, request_of
from tui.engine.actions import CommandError
from tui.engine.questions import (
    AddPartitions,
    AlterConfigs,
    CreateTopic,
    DeleteGroup,
    DeleteTopics,
    ElectPreferred,
    ElectUnclean,
    RemoveDeleteMarker,
    Request,
    ResetOffsets,
)

HERE = {"topic": "a.b", "group": "reports"}


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (
            "topics create --topic orders --partitions 12 --replication-factor 3 --config retention.ms=7",
            CreateTopic(topic="orders", partitions=12, replication_factor=3, configs={"retention.ms": "7"}),
        ),
        ("topics create --topic o --replica-assignment 1:2,2:1", CreateTopic(topic="o", assignment=((1, 2), (2, 1)))),
        ("topics alter --topic=orders --partitions 6", AddPartitions(topic="orders", partitions=6)),
        ("topics alter --partitions 6", AddPartitions(topic=r"a\.b", partitions=6)),
        ("topics delete --topic 'old.*'", DeleteTopics("old.*")),
        ("topics delete", DeleteTopics(r"a\.b")),
        ("act remove-delete-marker", RemoveDeleteMarker("a.b")),
        (
            "configs alter --topic orders --add-config a.b=1,c=[x,y] --delete-config d",
            AlterConfigs("topics", "orders", {"a.b": "1", "c": "x,y"}, ("d",)),
        ),
        ("act elect-preferred", ElectPreferred()),
        ("act elect-preferred --topic orders --partition 3", ElectPreferred("orders", (3,))),
        ("act elect-unclean --topic orders --partition 3", ElectUnclean("orders", (3,))),
        ("act delete-group", DeleteGroup("reports")),
        (
            "act reset-offsets --group g --topic t:0,1 --shift-by -5",
            ResetOffsets(group="g", topics=("t:0,1",), reset=Reset("shift-by", -5)),
        ),
    ],
)
def test_words_become_a_request(words: str, asked: Request) -> None:
    assert request_of(words, HERE) == asked


def test_files_are_read_as_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "offsets.csv").write_text("orders,0,12\n")
    found = request_of(f"act reset-offsets --group g --from-file {tmp_path}/offsets.csv", {})
    assert isinstance(found, ResetOffsets)
    assert found.listed == ((TopicPartition("orders", 0), 12),)
    with pytest.raises(CommandError, match="No such file"):
        request_of(f"act elect-preferred --path-to-json-file {tmp_path}/none.json", {})


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("topics", "try create, alter, delete"),
        ("topics drop --topic orders", "no :topics 'drop'"),
        ("topics create", r"takes --topic NAME \[--partitions N\]"),
        ("topics delete --help", "takes --topic NAME"),
        ("topics delete", "takes --topic NAME"),
        ("topics create --topic x/y", "Topic name is invalid"),
        ("topics create --topic 'x", "No closing quotation"),
        ("topics create --topic x --partitions few", "not a valid integer"),
        ("topics create --topic x --shape round", "No such option"),
        ("topics create --topic x --config other.toml", "--config is not taken here"),
        ("topics delete --topic x --yes", "--yes is not taken here"),
        ("topics delete --topic x --allow-writes", "--allow-writes is not taken here"),
        ("topics delete --topic x --json", "--json is not taken here"),
        ("topics delete --topic x --bootstrap b:9092", "--bootstrap is not taken here"),
        ("topics delete zk://b:2181 --topic x", "SOURCE 'zk://b:2181' is not taken here"),
        ("configs alter --topic orders --add-config retention.ms=soon", "takes a whole number"),
        ("act reset-offsets --group g --all-topics", "say where to, once"),
    ],
)
def test_what_is_no_request_is_refused_in_one_line(words: str, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match=reason) as refused:
        request_of(words, {})
    assert "\n" not in str(refused.value)
    assert capfd.readouterr() == ("", ""), "nothing is printed over the screen"


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("topics list", ":partitions"),
        ("topics describe --topic orders", ":topic NAME"),
        ("configs describe --topic orders", ":zk /config"),
        ("act reassign plan.json", ":reassign"),
        ("act  rollback", ":reassign rollback"),
        ("topics delete --topic list", ""),
    ],
)
def test_what_a_dashboard_has_otherwise_is_named(words: str, place: str) -> None:
    assert elsewhere(words).endswith(place) if place else elsewhere(words) == ""


@pytest.mark.parametrize(
    ("typed", "finished"),
    [
        ("topics", "topics "),
        ("topics cr", "topics create "),
        ("topics l", "topics l"),
        ("topics create --rep", "topics create --rep"),
        ("topics create --topic o --replication", "topics create --topic o --replication-factor "),
        ("act reset-offsets --to-d", "act reset-offsets --to-datetime "),
        ("act none --to-d", "act none --to-d"),
        ("topics create ", "topics create "),
    ],
)
def test_verbs_and_options_are_finished_where_there_is_no_doubt(typed: str, finished: str) -> None:
    assert completed(typed, lambda: typed_requests) == finished


def test_the_palette_offers_every_verb_that_is_a_request() -> None:
    told = dict(offered())
    assert {"topics create", "topics delete", "configs alter", "act delete-group", "act reset-offsets"} <= set(told)
    assert all(told.values()) and not any(map(elsewhere, told))


@given(st.sampled_from(REQUESTS), st.text())
def test_any_words_are_a_request_or_one_line(word: str, rest: str) -> None:
    failures: list[str] = []
    try:
        request_of(f"{word} {rest}", HERE)
    except CommandError as error:
        failures.append(str(error))
    assert not any("\n" in failure for failure in failures)
    assert completed(f"{word} {rest}", lambda: typed_requests).startswith(f"{word} {rest}")

"""What is kept from one run to the next: exactly what was chosen, whoever else writes, whatever lies in its place."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.dashboard import mode, opened, press, rows, text, type_in, until
from tui.engine.actions import SCREENS
from tui.engine.config import load_config
from tui.engine.palette import THEMES
from tui.engine.remembered import MOST_BYTES, MOST_CLUSTERS, Remembered, recall, remember, state_folder
from tui.engine.view_state import LEVELS, VIEWS, Filter, ListState, Reverse, Sort, SwitchView, ViewState, Zoom, reduce

CHOSEN = ViewState(lists={"partitions": ListState(filter="topic:orders", sort="topic", reverse=True, view="topics")})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "kdrill"


def keep(folder: Path, cluster: str = "prod", *, theme: str = "light", screen: str = "events") -> None:
    remember(folder, cluster, view_state=CHOSEN, theme=theme, screen=screen)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_what_was_chosen_comes_back(folder: Path) -> None:
    keep(folder)
    kept = recall(folder, "prod")
    assert (kept.theme, kept.screen, kept.note) == ("light", "events", "")
    assert kept.view_state == CHOSEN


def test_a_first_run_begins_with_nothing_and_says_nothing(folder: Path) -> None:
    assert recall(folder, "prod") == Remembered()
    assert Remembered().view_state == ViewState()
    assert not folder.exists()


def test_screens_and_filters_are_a_clusters_own_and_the_theme_is_everybodys(folder: Path) -> None:
    keep(folder, "prod")
    keep(folder, "zk://lab:2181/kafka", screen="logs", theme="")
    assert recall(folder, "prod").screen == "events"
    assert recall(folder, "zk://lab:2181/kafka").screen == "logs"
    assert recall(folder, "another") == Remembered(theme="light")


def test_that_the_tour_was_taken_is_everybodys_too_and_stays(folder: Path) -> None:
    keep(folder)
    assert not recall(folder, "prod").toured
    remember(folder, "sandbox", theme="", screen="drill", view_state=ViewState(), toured=True)
    keep(folder)
    assert recall(folder, "prod").toured


def test_clusters_with_like_names_are_not_mixed_up(folder: Path) -> None:
    names = ["a/b", "a-b", "a b", "-a-b-", "../a/b", "x" * 500, "no UTF-8 \udcff"]
    for name, screen in zip(names, SCREENS, strict=False):
        keep(folder, name, screen=screen)
    assert [recall(folder, name).screen for name in names] == list(SCREENS[: len(names)])
    assert {path.parent for path in files(folder)} == {folder}


INTENTS = st.one_of(
    st.builds(Filter, st.sampled_from([*VIEWS, "topics"]), st.text(max_size=20)),
    st.builds(Sort, st.sampled_from([*VIEWS, "topics"]), st.sampled_from(["topic", "id", "lag"])),
    st.builds(Reverse, st.sampled_from([*VIEWS, "topics"])),
    st.builds(SwitchView, st.sampled_from(list(VIEWS))),
    st.builds(Zoom, st.sampled_from(list(LEVELS)), st.integers(0, 3)),
)


Chosen = Filter | Sort | Reverse | SwitchView | Zoom


@given(st.lists(INTENTS, max_size=12), st.sampled_from(SCREENS), st.sampled_from(THEMES))
def test_whatever_was_chosen_comes_back(
    tmp_path_factory: pytest.TempPathFactory, intents: list[Chosen], screen: str, theme: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-choice"
    state = ViewState()
    for intent in intents:
        state = reduce(state, intent)
    remember(folder, "any", theme=theme, screen=screen, view_state=state)
    kept = recall(folder, "any")
    assert (kept.theme, kept.screen, kept.note) == (theme, screen, "")
    assert all(kept.view_state.of(name) == state.of(name) for name in state.lists)


def test_what_is_only_for_now_is_not_kept(folder: Path) -> None:
    now = ViewState(lists={"znodes": ListState(scope="orders", opened=("/brokers",), offset=8)}, at=7)
    remember(folder, "prod", theme="", screen="znodes", view_state=now)
    assert recall(folder, "prod").view_state == ViewState()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b" " * (MOST_BYTES + 1), b'{"format":"kdrill.views/2"}'],
    ids=["empty", "cut-off", "a-list", "null", "no-text", "deep", "large", "of-another-release"],
)
@pytest.mark.parametrize("which", ["look", "views"])
def test_a_file_that_is_none_of_ours_is_passed_over_with_a_note_and_replaced(
    folder: Path, content: bytes, which: str
) -> None:
    keep(folder)
    (file,) = folder.glob(f"{which}*.json")
    file.write_bytes(content)
    kept = recall(folder, "prod")
    assert kept.note == f"{file} is damaged or not kdrill's: passed over"
    assert (kept.theme, kept.screen) == (("", "events") if which == "look" else ("light", ""))
    keep(folder)
    assert recall(folder, "prod").note == ""


def test_names_that_mean_nothing_any_more_are_left_out(folder: Path) -> None:
    keep(folder, theme="pink", screen="cellar")
    (file,) = folder.glob("views*.json")
    document = msgspec.json.decode(file.read_bytes())
    document["lists"] = {"partitions": {"view": "hologram", "left": ["x", "list"], "filter": "a", "new": 1}, "gone": {}}
    file.write_bytes(msgspec.json.encode(document))
    kept = recall(folder, "prod")
    assert (kept.theme, kept.screen, kept.note) == ("", "", "")
    assert kept.view_state.of("partitions") == ListState(filter="a", view=VIEWS["partitions"][0], left=("list",))


def test_what_cannot_be_written_is_not_kept(folder: Path) -> None:
    keep(folder)
    no_text = ViewState(lists={"partitions": ListState(filter="\ud800")})
    remember(folder, "prod", theme="", screen="logs", view_state=no_text)
    assert recall(folder, "prod").screen == "events"
    assert len(files(folder)) == 2


def test_a_pipe_or_a_folder_in_the_place_of_a_file_holds_nothing_up(folder: Path) -> None:
    keep(folder)
    look, views = folder / "look.json", next(folder.glob("views*.json"))
    look.unlink()
    views.unlink()
    os.mkfifo(look)
    views.mkdir()
    assert recall(folder, "prod").note.endswith("passed over")
    keep(folder)
    assert recall(folder, "prod").screen == ""


@pytest.mark.parametrize("place", ["a file", "a file/below"])
def test_a_folder_that_cannot_be_is_a_note_and_no_failure(tmp_path: Path, place: str) -> None:
    (tmp_path / "a file").touch()
    kept = recall(tmp_path / place, "prod")
    assert kept == Remembered(note=f"{tmp_path / place} cannot be written: nothing will be remembered")
    keep(tmp_path / place)
    assert files(tmp_path) == [tmp_path / "a file"]


def test_files_are_for_their_owner_alone(folder: Path) -> None:
    keep(folder)
    assert {path.stat().st_mode & 0o777 for path in files(folder)} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_many_at_once_leave_one_whole_choice_and_nothing_else(folder: Path) -> None:
    screens = [SCREENS[number % len(SCREENS)] for number in range(40)]
    started = threading.Barrier(len(screens))

    def run(screen: str) -> None:
        started.wait()
        keep(folder, screen=screen)
        assert recall(folder, "prod").note == ""

    runs = [threading.Thread(target=run, args=(screen,)) for screen in screens]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    kept = recall(folder, "prod")
    assert kept.screen in SCREENS
    assert kept.view_state == CHOSEN
    assert len(files(folder)) == 2


def test_clusters_not_seen_for_long_are_forgotten(folder: Path) -> None:
    for number in range(MOST_CLUSTERS + 3):
        keep(folder, f"cluster {number}")
        os.utime(max(folder.glob("views*.json"), key=lambda file: file.stat().st_mtime_ns), ns=(number, number))
    keep(folder, "the last")
    assert len(list(folder.glob("views*.json"))) == MOST_CLUSTERS
    assert recall(folder, "cluster 0") == Remembered(theme="light")
    assert recall(folder, "the last").screen == "events"


def test_no_test_reads_or_writes_what_is_the_users(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert state_folder().is_relative_to(tmp_path_factory.getbasetemp())
    assert load_config().path.is_relative_to(tmp_path_factory.getbasetemp())
    assert not state_folder().exists()


async def test_the_dashboard_begins_as_it_was_left(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "orders")
        await press(pilot, "enter", "s", "S")
        left = pilot.app
    assert left.current_mode == "partitions"
    async with opened(still, screen="partitions", view_state=left.view_state) as pilot:  # pyright: ignore
        assert mode(pilot) == "partitions"
        await until(pilot, lambda: "/orders" in text(pilot))
        assert rows(pilot).answer.total < rows(pilot).answer.unfiltered_total
        await press(pilot, "minus")
        assert mode(pilot) == "overview"

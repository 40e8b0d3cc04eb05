"""`e` and `:export`: what is on the screen, and all rows of its list, as files. Nothing is overwritten."""

import csv
import gc
import inspect
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.tui.dashboard import Keys, kdrill, opened, press, rows, settled, text, until
from tui.app.export import rows_as_csv
from tui.engine.messages import HeaderFacts
from tui.engine.queries import GroupList
from tui.engine.rows import Column, Row, Window, line


async def write(pilot: Keys, name: str) -> str:
    """Exports to this name; what the last line says then."""
    page = kdrill(pilot).page
    assert page is not None
    page.say("")
    kdrill(pilot).export(name)
    await until(pilot, lambda: page.bottom._said)
    return page.bottom._said


async def test_the_screen_as_text_and_as_a_picture(still: str, tmp_path: Path) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3")
        seen = text(pilot)
        assert await write(pilot, f"{tmp_path}/map.txt") == f"this screen was written to {tmp_path}/map.txt"
        assert (tmp_path / "map.txt").read_text().rstrip("\n") == seen.rstrip("\n")
        await write(pilot, f"{tmp_path}/map.svg")
        picture = "".join(ElementTree.parse(tmp_path / "map.svg").getroot().itertext()).replace("\xa0", " ")
        assert "url(" not in (tmp_path / "map.svg").read_text().replace("url(#", ""), "of no other host"
        assert rows(pilot).cursor_key in picture


async def test_every_row_of_the_list_as_it_is_filtered(still: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.app.export.ROWS_AT_ONCE", 5)
    async with opened(still) as pilot:
        await press(pilot, "3", "v")
        kdrill(pilot).show_partitions("topic:=orders")
        await until(pilot, lambda: "12 of 126" in text(pilot))
        assert (await write(pilot, f"{tmp_path}/orders.json")).endswith("has 12 rows of partitions")
        document = json.loads((tmp_path / "orders.json").read_text())
        assert document["format"] == "kdrill.view/1"
        assert (document["list"], document["filter"]) == ("partitions", "topic:=orders")
        assert [row["key"] for row in document["rows"]] == [f"orders-{number}" for number in range(12)]
        assert all(len(row["cells"]) == len(document["columns"]) for row in document["rows"])
        await write(pilot, f"{tmp_path}/orders.csv")
        with (tmp_path / "orders.csv").open() as file:
            titles, *lines = csv.reader(file)
        assert titles == ["mark", *document["columns"]]
        assert [row[1:] for row in lines] == [row["cells"] for row in document["rows"]]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("@SUM(1)", "'@SUM(1)"),
        ("+1-2", "'+1-2"),
        ("-2+cmd|x!A0", "'-2+cmd|x!A0"),
        ("-1", "-1"),
        ("+1,250.5", "+1,250.5"),
        ("-", "-"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_a_spreadsheet_finds_no_formula(cell: str, written: str) -> None:
    window = Window(0, 1, (Row("key", (line(cell),)),), (Column("Group", 20),))
    assert list(csv.reader(rows_as_csv(window, GroupList(), HeaderFacts()).splitlines())) == [
        ["mark", "Group"],
        ["", written],
    ]


async def test_what_cannot_be_written_is_said_in_a_line(still: str, tmp_path: Path) -> None:
    taken = tmp_path / "taken.txt"
    taken.write_text("mine")
    async with opened(still, size=(160, 40)) as pilot:
        assert "exists already" in await write(pilot, str(taken))
        assert taken.read_text() == "mine"
    async with opened(still, size=(160, 40)) as pilot:
        assert ".txt, .svg, .json, .csv" in await write(pilot, f"{tmp_path}/view.docx")
    async with opened(still, size=(160, 40)) as pilot:
        assert "No such file or directory" in await write(pilot, f"{tmp_path}/nowhere/view.json")


async def test_the_key_offers_a_name_and_enter_takes_it(
    still: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(still) as pilot:
        await press(pilot, "e")
        assert "export kdrill-overview-20231115-011320.txt" in text(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: list(tmp_path.iterdir()))
        assert [path.name for path in tmp_path.iterdir()] == ["kdrill-overview-20231115-011320.txt"]


async def test_who_quits_at_once_is_told_nothing_of_work_that_never_began(still: str, tmp_path: Path) -> None:
    async with opened(still) as pilot:
        kdrill(pilot).export(str(tmp_path / "screen.txt"))
        kdrill(pilot).workers.cancel_all()
        await settled(pilot)
        # Python complains of a coroutine that nobody awaited, once it is collected.
        made = [each for each in gc.get_objects() if inspect.iscoroutine(each) and "_exported" in each.__qualname__]
        assert not [each for each in made if inspect.getcoroutinestate(each) == inspect.CORO_CREATED]

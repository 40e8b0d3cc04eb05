"""Trees are drawn, opened, closed and walked."""

from textual.message import Message

from tests.tui.hostile import HOSTILE
from tests.tui.screen_text import assert_screen, screen_lines
from tests.tui.widgets.listing import ListApp
from tui.app.widgets.line_view import TreeLines
from tui.app.widgets.lists import CloseNode, OpenNode, ParentWanted
from tui.engine.rows import Column, Row, Window

COLUMNS = (Column("", -20), Column("", 14, ">"))


def node(path: str, *, is_open: bool | None = None, mark: str = "", aside: str = "") -> Row:
    depth = 0 if path == "/" else path.count("/")
    name = path if path == "/" else path.rsplit("/", 1)[-1]
    return Row(path, (((name, "removed" if mark == "-" else ""),), ((aside, "dim"),)), depth, is_open, mark)


NODES = (
    node("/", is_open=True),
    node("/admin", is_open=True),
    node("/admin/reassign_partitions", mark="-", aside="gone"),
    node("/brokers", is_open=True),
    node("/brokers/ids", is_open=True, aside="(5)"),
    node("/brokers/ids/5", mark="-", aside="gone 12:03:58"),
    node("/brokers/topics", is_open=False, aside="(214)"),
    node("/controller", mark="~"),
    node("/controller_epoch"),
    node("/... 500 more"),
)


class TreeApp(ListApp):
    def on_open_node(self, message: OpenNode) -> None:
        self.heard.append(message)

    def on_close_node(self, message: CloseNode) -> None:
        self.heard.append(message)

    def on_parent_wanted(self, message: ParentWanted) -> None:
        self.heard.append(message)

    def nodes(self) -> list[tuple[type[Message], str]]:
        kinds = (OpenNode, CloseNode, ParentWanted)
        return [(type(message), message.key) for message in self.heard if isinstance(message, kinds)]


def tree_app(rows: tuple[Row, ...] = NODES, *, ascii_only: bool = False) -> TreeApp:
    return TreeApp(rows, columns=COLUMNS, make=TreeLines, ascii_only=ascii_only)


async def test_a_tree_reads_as_in_the_sketch() -> None:
    app = tree_app()
    async with app.run_test(size=(60, 12)):
        assert_screen(app, "tree")


async def test_a_tree_in_ascii() -> None:
    app = tree_app(ascii_only=True)
    async with app.run_test(size=(60, 12)):
        assert "".join(screen_lines(app)).isascii()
        assert_screen(app, "tree_ascii")


async def test_l_opens_or_goes_in() -> None:
    app = tree_app()
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("l")
        assert app.view.cursor_key == "/admin"
        await pilot.press("j", "l")
        assert app.view.cursor_key == "/admin/reassign_partitions"
        app.view.seek("/brokers/topics")
        await pilot.pause()
        await pilot.press("right")
        assert app.nodes() == [(OpenNode, "/brokers/topics")]


async def test_h_closes_or_goes_to_the_parent() -> None:
    app = tree_app()
    async with app.run_test(size=(60, 12)) as pilot:
        app.view.seek("/brokers/topics")
        await pilot.pause()
        await pilot.press("h")
        assert app.view.cursor_key == "/brokers"
        await pilot.press("left")
        assert app.nodes() == [(CloseNode, "/brokers")]


async def test_closing_a_node_from_its_child_keeps_the_cursor_on_a_named_row() -> None:
    app = tree_app()
    async with app.run_test(size=(60, 12)) as pilot:
        app.view.seek("/brokers/ids/5")
        await pilot.pause()
        await pilot.press("h", "h")
        app.rows = [
            node("/brokers/ids", is_open=False) if n.key == "/brokers/ids" else n for n in NODES if n != NODES[5]
        ]
        app.view.ask()
        await pilot.pause()
        assert app.view.cursor_key == "/brokers/ids"


async def test_a_parent_that_is_not_held_is_asked_for() -> None:
    app = tree_app()
    async with app.run_test(size=(60, 12)) as pilot:
        app.answers = False
        app.view.show(Window(5000, 9000, (node("/brokers/topics/t"),), COLUMNS, cursor=5000), "/")
        assert app.view.cursor_key == "/brokers/topics/t"
        await pilot.press("h")
        assert app.nodes() == [(ParentWanted, "/brokers/topics/t")]


async def test_leaves_and_empty_trees_stay_quiet() -> None:
    app = tree_app((node("/"),))
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("l", "h", "right", "left")
        app.rows = ()
        app.view.ask()
        await pilot.pause()
        await pilot.press("l", "h", "enter")
        assert app.nodes() == []


async def test_hostile_names_are_shown() -> None:
    app = tree_app(tuple(Row(text, (((text, ""),),), 9, True, "+") for text in HOSTILE))
    async with app.run_test(size=(60, 30)) as pilot:
        await pilot.press("j", "l")
        assert all(line.isprintable() for line in screen_lines(app))

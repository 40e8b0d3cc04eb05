"""The registry of actions: every key beyond the motions, its meaning, and where it holds.

Bindings, the footer, the help overlay and the palette all read this table; nothing else binds a key.
"""

from typing import NamedTuple

from textual.binding import Binding

SCREENS = ("overview", "znodes", "partitions", "consumers", "drill", "sandbox")
TITLES = ("Overview", "Znodes", "Partitions", "Consumers", "Drill", "Sandbox")
NUMBERS = ("1", "2", "3", "4", "6", "8")
"""The key of each screen."""
OVERLAY = "overlay"
EVERYWHERE = (*SCREENS, OVERLAY)
DRILL = ("drill",)
SANDBOX = ("sandbox",)
MAPS = ("partitions", "drill")


class Action(NamedTuple):
    """One thing the operator can do. `keys` as Textual names them; `sign` as a person reads them.

    `footer`: place among the keys shown at the bottom, 0 not shown. The app carries out what leads from screen to
    screen, the page in front all else.
    """

    id: str
    keys: str
    sign: str
    label: str
    help: str
    places: tuple[str, ...] = SCREENS
    footer: int = 0

    @property
    def target(self) -> str:
        """What Textual has to call."""
        return f"app.{self.id}" if self.id.partition("(")[0] in _OF_APP else self.id


_OF_APP = frozenset(
    {
        "help",
        "screen",
        "command_palette",
        "alerts",
        "previous",
        "theme",
        "quit_or_back",
        "back",
        "leave",
        "interrupt",
        "suspend_process",
    }
)

ACTIONS: tuple[Action, ...] = (
    Action("help", "question_mark,f1", "? F1", "help", "the keys that work here", footer=1),
    Action("filter", "slash", "/", "filter", "only what matches: words, field:value, !not", footer=2),
    Action("filter", "slash", "/", "find", "go to the next line with this; n and N to others", (OVERLAY,), footer=2),
    Action("command", "colon", ":", "cmd", "a command: topic orders, zk /brokers, broker 5, group g", footer=3),
    Action("command_palette", "ctrl+p", "ctrl+p", "palette", "all of this by name", EVERYWHERE),
    Action("screen('overview')", "1", "1", "overview", "is it healthy, what changed"),
    Action("screen('znodes')", "2", "2", "znodes", "what is really in ZooKeeper"),
    Action("screen('partitions')", "3", "3", "partitions", "who leads, who is in sync"),
    Action("screen('consumers')", "4", "4", "consumers", "who owns what, who is idle"),
    Action("screen('drill')", "6", "6", "drill", "what happens if brokers die, on a copy"),
    Action("screen('sandbox')", "8", "8", "sandbox", "break it for real: kill, pause, cut off, and mend"),
    Action("alerts", "a", "a", "alerts", "what is wrong now, worst first", footer=5),
    Action("sort", "s", "s", "sort", "sort by the next column; past the last, the list's own order", footer=7),
    Action("reverse", "S", "S", "reverse", "turn the order round"),
    Action("view", "v", "v", "view", "matrix, list; graph, table; decoded, raw; table, bars", footer=6),
    Action("describe", "d", "d", "describe", "everything about the selected thing", footer=4),
    Action("related", "o", "o", "go to", "the znode, partitions or group behind the selection", footer=9),
    Action("copy", "y", "y", "copy", "copy the name of the selected row; in a text, all of it", EVERYWHERE, footer=10),
    Action("copy_text", "Y", "Y", "copy text", "copy the text of the side pane"),
    Action("brokers(1)", "right_parenthesis", ")", "brokers on", "show the next brokers of the map", MAPS),
    Action("brokers(-1)", "left_parenthesis", "(", "brokers back", "show the brokers before", MAPS),
    Action("kill", "K", "K", "kill", "the broker under the cursor dies, or is spared again", DRILL, footer=4),
    Action("kill_rack", "R", "R", "rack", "all of its rack die, or are spared again", DRILL, footer=4),
    Action("restart", "U", "U", "up again", "the dead come back after a minute, or never", DRILL, footer=11),
    Action("policy", "P", "P", "policy", "unclean election off, on; session timeout 18 s, 6 s", DRILL, footer=12),
    Action("undo", "u", "u", "undo", "the drill before the last change", DRILL, footer=5),
    Action("reset", "0", "0", "reset", "nobody dies", DRILL),
    Action("step(-1)", "comma", ",", "back", "the moment before", DRILL, footer=4),
    Action("step(1)", "full_stop", ".", "step", "the next moment", DRILL, footer=4),
    Action("mark(-1)", "less_than_sign", "<", "mark before", "the mark before: deaths, sessions, controllers", DRILL),
    Action("mark(1)", "greater_than_sign", ">", "next mark", "the next mark", DRILL),
    Action("time", "t", "t", "time", "go to a time: 18.2 is 18.2 s after the deaths", DRILL),
    Action("play", "p", "p", "play", "let the time of the drill pass, or stop it", DRILL, footer=6),
    Action("kill", "K", "K", "kill", "kill -9 the broker or server; a consumer vanishes", SANDBOX, footer=4),
    Action("wish('terminate')", "D", "D", "shut down", "the broker hands its partitions over and leaves", SANDBOX),
    Action("wish('pause')", "Z", "Z", "zombie", "stop the broker as a long GC does; let it go on", SANDBOX, footer=4),
    Action("restart", "U", "U", "up again", "start it, let it go on, heal the link", SANDBOX, footer=4),
    Action("wish('expire')", "E", "E", "expire", "end the broker's ZooKeeper session behind it", SANDBOX, footer=11),
    Action("failover", "F", "F", "failover", "kill the controller", SANDBOX, footer=11),
    Action("wish('cut')", "X", "X", "cut", "cut the link, or the broker from ZooKeeper; heal it", SANDBOX, footer=5),
    Action("wish('brake')", "B", "B", "brake", "slow the same links by 200 ms each way; heal them", SANDBOX, footer=11),
    Action("undo", "u", "u", "undo", "mend what was broken last", SANDBOX, footer=5),
    Action("reset", "0", "0", "mend all", "mend all that was broken, the last first", SANDBOX, footer=12),
    Action("pane(1)", "tab", "tab", "pane", "next pane; in a command, complete the word"),
    Action("pane(-1)", "shift+tab", "shift+tab", "pane", "previous pane"),
    Action("full", "f", "f", "full", "the pane at hand alone, and back"),
    Action("refresh", "r", "r", "refresh", "ask again now"),
    Action("previous", "minus", "-", "before", "the screen before this one"),
    Action("theme", "T", "T", "theme", "next theme: dark, light, ansi, mono", EVERYWHERE),
    Action(
        "quit_or_back", "q", "q", "back", "close, clear the filter, go back; on the overview quit", EVERYWHERE, footer=8
    ),
    Action("back", "escape", "esc", "back", "close, clear the filter, back to the overview", EVERYWHERE),
    Action("leave", "Q,ctrl+q", "Q ctrl+q", "quit", "quit at once", EVERYWHERE),
    Action("interrupt", "ctrl+c", "ctrl+c", "how to quit", "copy what is marked, or say how to quit", EVERYWHERE),
    Action("suspend_process", "ctrl+z", "ctrl+z", "suspend", "back to the shell; fg returns", EVERYWHERE),
)
"""In the order in which help shows them."""

MOTIONS: tuple[tuple[str, str], ...] = (
    ("j k, up down", "move"),
    ("h l, left right", "close and open a branch; columns aside"),
    ("g G, home end", "top, bottom"),
    ("ctrl+d ctrl+u", "half a page down, up"),
    ("pgdn pgup", "a page down, up"),
    ("enter", "open"),
)
"""Reserved on every screen."""


def bindings(place: str) -> list[Binding]:
    """What holds at a place as Textual's bindings."""
    return [Binding(action.keys, action.target, action.help, show=False, id=action.id) for action in holding(place)]


def holding(place: str) -> list[Action]:
    """The actions that hold on a screen, or on the overlay."""
    return [action for action in ACTIONS if place in action.places]


def footer_keys(place: str) -> list[tuple[str, str]]:
    """(sign, label) for the footer, most useful first."""
    shown = sorted((action for action in holding(place) if action.footer), key=lambda action: action.footer)
    return [(action.sign.partition(" ")[0], action.label) for action in shown]

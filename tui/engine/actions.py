"""The screens and the actions there are: every key beyond the motions, what it means and where it holds.

Bindings, the footer, the help overlay, the palette and `kdrill keys` read these tables; nothing else binds a key.
Screens are in the order of their tabs; the app has their classes (`tui/app/navigation.py`). On a KRaft cluster, or
through `kafka://`, the tree of screen 2 holds what brokers tell and no znodes: the last part has the words for that.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

from tui.engine.messages import HeaderFacts


class CommandError(ValueError):
    """A command that cannot be understood; the message is one line."""


class RegisteredScreen(NamedTuple):
    """A screen: its name within, its title, its key, what it is for, and whether its tab is always there."""

    name: str
    title: str
    key: str
    help: str
    is_tab: bool = True


REGISTRY: tuple[RegisteredScreen, ...] = (
    RegisteredScreen("overview", "Overview", "1", "is it healthy, what changed"),
    RegisteredScreen("znodes", "Znodes", "2", "the tree in ZooKeeper, as it is"),
    RegisteredScreen("partitions", "Partitions", "3", "who leads, who is in sync"),
    RegisteredScreen("consumers", "Consumers", "4", "who owns what, who is idle, who lags"),
    RegisteredScreen("lab", "Lab", "5", "assignment strategies side by side"),
    RegisteredScreen("drill", "Drill", "6", "what happens if brokers fail, on a copy"),
    RegisteredScreen("sweep", "Sweep", "7", "which failures hurt most: brokers, pairs, racks"),
    RegisteredScreen("sandbox", "Sandbox", "8", "break a real cluster: kill, pause, cut; and undo it"),
    RegisteredScreen("plans", "Plans", "9", "where replicas should be, and what it costs"),
    RegisteredScreen("controller", "Brokers", "b", "brokers, the controller, its epochs, pending work"),
    RegisteredScreen("logs", "Logs", "L", "segments, batches, records, offset look-ups, damage"),
    RegisteredScreen("events", "Events", "i", "what happened; enter goes back to that moment"),
    RegisteredScreen("history", "History", "I", "what a recording tells of days and months", is_tab=False),
    RegisteredScreen("forecast", "Forecast", "w", "minutes a year without a leader, and what helps", is_tab=False),
)


SCREENS = tuple(screen.name for screen in REGISTRY)
TITLES = tuple(screen.title for screen in REGISTRY)
NUMBERS = tuple(screen.key for screen in REGISTRY)
"""The key of each screen."""
OVERLAY = "overlay"
EVERYWHERE = (*SCREENS, OVERLAY)
OVERVIEW = ("overview",)
LAB = ("lab",)
DRILL = ("drill",)
SWEEP = ("sweep",)
SANDBOX = ("sandbox",)
PLANS = ("plans",)
CONTROLLER = ("controller",)
ZNODES = ("znodes",)
HISTORY = ("history",)
FORECAST = ("forecast",)
FORMED = ("overview", "znodes", "partitions", "consumers", "lab", "drill", "logs")
"""Screens with a list or text of several forms."""
MAPS = ("partitions", "drill")
ZOOMED = ("partitions",)
GRAPHS = ("consumers", "lab")
TIMED = ("overview", "partitions", "consumers", "controller", "events")
"""Screens that show the past."""


Group = Literal["here", "move", "go", "everywhere"]
GROUPS: Mapping[Group, str] = {"here": "Here", "move": "Move", "go": "Go", "everywhere": "Everywhere"}
"""Group of keys, in the order in which help shows them → its heading."""


class Action(NamedTuple):
    """One thing the operator can do. `keys` as Textual names them; `sign` as a person reads them.

    `label` is one word, two at most: the same in the footer, in help and in the palette. `footer`: rank among the keys
    at the bottom, 0 never there; the first few that can do something are shown. The app carries out what leads from
    screen to screen, the page in front all else. What an action needs stands in `tui/engine/conditions.py`.
    """

    id: str
    keys: str
    sign: str
    label: str
    help: str
    places: tuple[str, ...] = SCREENS
    footer: int = 0

    @property
    def name(self) -> str:
        """What the action is called in the settings, where it must keep its name: `sort`, `screen-logs`, `step-back`.

        One name is one thing wherever it holds: an id that several places have is remapped in all of them.
        """
        verb, _, argument = self.id.rstrip(")").replace("_", "-").removeprefix("wish").partition("(")
        return _NAMES.get(self.id) or "-".join(filter(None, (verb, _ARGUMENTS.get(argument, argument.strip("'")))))

    @property
    def group(self) -> Group:
        """Where help lists it: `here` if few places have it."""
        if self.id.partition("(")[0] in _GOING:
            return "go"
        if self.id.startswith("pane("):
            return "move"
        return "everywhere" if set(SCREENS) <= set(self.places) or self.places == (OVERLAY,) else "here"

    @property
    def target(self) -> str:
        """What Textual has to call."""
        return f"app.{self.id}" if self.id.partition("(")[0] in _OF_APP else self.id


_NAMES = {
    "command_palette": "palette",
    "leave": "quit",
    "suspend_process": "suspend",
    "by": "measure",
    "wish('pause')": "zombie",
}
_ARGUMENTS = {"1": "on", "-1": "back"}
_GOING = frozenset({"screen", "alerts", "related", "previous", "clusters"})

_OF_APP = frozenset(
    {
        "help",
        "screen",
        "command_palette",
        "alerts",
        "clusters",
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
    Action("filter", "slash", "/", "filter", "show only what matches: words, field:value, !not", footer=5),
    Action("filter", "slash", "/", "find", "go to the next line with this text; n and N: others", (OVERLAY,), footer=2),
    Action("command", "colon", ":", "command", "type one: topic orders, zk /brokers, broker 5", footer=12),
    Action("command_palette", "ctrl+p", "ctrl+p", "palette", "every key and command, by name", EVERYWHERE),
    *(Action(f"screen('{each.name}')", each.key, each.key, each.title.lower(), each.help) for each in REGISTRY),
    Action("alerts", "a", "a", "findings", "what is wrong now, worst first", footer=9),
    Action("sort", "s", "s", "sort", "sort by the next column, then the list's own order", footer=10),
    Action("reverse", "S", "S", "reverse", "reverse the order"),
    Action("view", "v", "v", "view", "next form: map or list, table or chart, text or raw", FORMED, footer=7),
    Action("describe", "d", "d", "describe", "everything about the selected row", footer=6),
    Action("related", "o", "o", "go to", "the znode, partitions or group behind this row", footer=8),
    Action("copy", "y", "y", "copy", "copy the selected name, or all of a text", EVERYWHERE, footer=13),
    Action("history", "H", "H", "past values", "the znode's past values, newest first", ZNODES, footer=4),
    Action(
        "records", "semicolon", ";", "records", "the metadata log's last records, live; again: hide", ZNODES, footer=3
    ),
    Action("copy_text", "Y", "Y", "copy text", "copy the text of the side pane"),
    Action("zoom", "z", "z", "zoom", "one step out: topics, brokers, racks, then back in", ZOOMED, footer=3),
    Action("zoom", "z", "z", "zoom", "group by owner, by topic, or one by one", ("consumers",), footer=3),
    Action("moves", "V", "V", "moves", "show what a rebalance moved, or would move", GRAPHS, footer=4),
    Action("brokers(1)", "right_parenthesis", ")", "next brokers", "show the next brokers on the map", MAPS),
    Action("brokers(-1)", "left_parenthesis", "(", "prev brokers", "show the previous brokers on the map", MAPS),
    Action("pick", "space", "space", "pick", "pick this broker or rack for K; h and l: the column", MAPS, footer=9),
    Action("kill", "K", "K", "fail", "on a copy: fail the picked brokers, or this one", ZOOMED, footer=4),
    Action("for_real", "exclamation_mark", "!", "break", "go to this broker in the sandbox, to break it there", MAPS),
    Action("kill", "K", "K", "fail", "on a copy: fail this or all picked; again: undo", DRILL, footer=2),
    Action("kill_rack", "R", "R", "fail rack", "on a copy: fail this broker's rack; again: undo", DRILL, footer=3),
    Action("wish('terminate')", "D", "D", "shut down", "controlled shutdown of this broker; again: undo", DRILL),
    Action("failover", "F", "F", "failover", "fail the controller; again, on KRaft: a majority", DRILL, footer=11),
    Action("wish('cut')", "X", "X", "fail folder", "KRaft: fail a log folder of this broker; again: next", DRILL),
    Action("join", "J", "J", "voter", "KRaft: as if this node voted, or did not; again: undo", DRILL),
    Action("restart", "U", "U", "restart", "failed brokers come back later; a dead one starts", DRILL, footer=9),
    Action("policy", "P", "P", "policy", "unclean election; time to detect a failure", DRILL, footer=10),
    Action("undo", "u", "u", "undo", "undo the last change", DRILL, footer=5),
    Action("reset", "0", "0", "reset", "start over: nothing fails", DRILL),
    Action("step(-1)", "comma", ",", "earlier", "one moment back", DRILL, footer=4),
    Action("step(1)", "full_stop", ".", "later", "one moment on", DRILL, footer=4),
    Action("mark(-1)", "less_than_sign", "<", "prev mark", "to the failure, loss or new controller before", DRILL),
    Action("mark(1)", "greater_than_sign", ">", "next mark", "to the next failure, loss or new controller", DRILL),
    Action("time", "t", "t", "time", "go to a time: 18.2 is 18.2 s after the failure", DRILL),
    Action("play", "p", "p", "play", "play the drill from here, or stop", DRILL, footer=4),
    Action("play", "p", "p", "pause", "freeze this moment, or follow the cluster again", TIMED, footer=11),
    Action("step(-1)", "comma", ",", "earlier", "one moment back (collecting continues)", TIMED, footer=12),
    Action("step(1)", "full_stop", ".", "later", "one moment on", TIMED),
    Action("mark(-1)", "less_than_sign", "<", "prev mark", "the last broker, leader, fault or error change", TIMED),
    Action("mark(1)", "greater_than_sign", ">", "next mark", "the next such change, or a mark of yours", TIMED),
    Action("time", "t", "t", "time", "go to 12:03:58, -5m, e118 (controller), zxid:0x1f", TIMED),
    Action("compare", "equals_sign", "=", "compare", "compare with the last mark, or with now", TIMED, footer=11),
    Action("put_mark", "m", "m", "mark", "mark this moment, with a note; < and > stop there", TIMED, footer=13),
    Action("acknowledge", "A", "A", "acknowledge", "mute this finding until it changes", OVERVIEW, footer=8),
    Action("kill", "K", "K", "kill", "kill -9 the process; a consumer leaves unannounced", SANDBOX, footer=2),
    Action("wish('terminate')", "D", "D", "shut down", "controlled shutdown of the broker", SANDBOX, footer=9),
    Action("wish('pause')", "Z", "Z", "pause", "stop the broker as a long GC would; again: resume", SANDBOX, footer=3),
    Action("restart", "U", "U", "restart", "start or resume it, or heal the link", SANDBOX, footer=3),
    Action("wish('expire')", "E", "E", "expire", "expire the broker's ZooKeeper session", SANDBOX, footer=11),
    Action("failover", "F", "F", "failover", "kill the controller", SANDBOX, footer=11),
    Action("wish('cut')", "X", "X", "cut", "cut the link, or broker from ZooKeeper; again: heal", SANDBOX, footer=4),
    Action("wish('brake')", "B", "B", "slow", "delay the link by 200 ms each way; again: heal", SANDBOX, footer=11),
    Action("view", "v", "v", "view", "processes, links and load as lists, or the picture", SANDBOX, footer=6),
    Action("undo", "u", "u", "undo", "undo the last fault", SANDBOX, footer=4),
    Action("reset", "0", "0", "reset", "undo every fault, the last first", SANDBOX, footer=12),
    Action("play", "p", "p", "in time", "play all: seconds without a leader; again: count", SWEEP, footer=2),
    Action("view", "v", "v", "view", "brokers, pairs, racks, random sets; rolling in time", SWEEP, footer=3),
    Action("reseed", "asterisk", "*", "reseed", "in time: other random sequences of failures", SWEEP, footer=11),
    Action("act", "x", "x", "stop", "stop; what has been played by then stays", SWEEP, footer=12),
    Action("policy", "P", "P", "policy", "unclean election: as each topic says, or everywhere", SWEEP, footer=4),
    Action(
        "engine",
        "W",
        "W",
        "engine",
        "work it out in this process, on Spark, or as suits",
        (*SWEEP, *LAB, *HISTORY, *FORECAST),
    ),
    Action("kill", "K", "K", "leave", "the selected consumer leaves; again: undo", LAB, footer=2),
    Action("pick", "space", "space", "play", "play what moves, from now to then; again: stop", LAB, footer=3),
    Action("join", "J", "J", "join", "one more member joins, up to three; then none", LAB, footer=3),
    Action("reset", "0", "0", "reset", "nobody leaves or joins; no invented group", LAB),
    Action("made_up", "c", "c", "invent", "try a group that does not exist: :readers orders* 4", LAB, footer=11),
    Action("act", "x", "x", "plan", "plan replicas of the topics this group reads", LAB, footer=8),
    Action("kill", "K", "K", "remove", "take the selected broker out; again: keep it", PLANS, footer=2),
    Action("act", "x", "x", "review", "changes by batch, verdict, files; again: back", PLANS, footer=3),
    Action("pick", "space", "space", "in/out", "in the review: leave the batch out, or take it in", PLANS, footer=4),
    Action("view", "v", "v", "view", "goal of the plan; in the review: what is shown", PLANS, footer=4),
    Action("by", "M", "M", "measure", "balance by replicas or by bytes", PLANS, footer=5),
    Action("policy", "P", "P", "tolerance", "allowed distance from the mean: 0, 5, 10 %", PLANS, footer=11),
    Action("reset", "0", "0", "reset", "discard the plan", PLANS),
    Action("kill", "K", "K", "fail", "on a copy: fail this broker, see what is written", CONTROLLER, footer=4),
    Action("view", "v", "v", "view", "leaderships lost, or ISR churn", HISTORY, footer=2),
    Action("act", "x", "x", "stop", "stop reading; what was read stays", HISTORY, footer=3),
    Action("next_cluster", "O", "O", "next cluster", "the next cluster of this folder", HISTORY),
    Action("more", "plus", "+", "more years", "play ten times as many; past the most, few again", FORECAST, footer=3),
    Action("play", "p", "p", "with plan", "the plan of screen 9 beside it; again: without", FORECAST, footer=2),
    Action("made_up", "c", "c", "change", "a setting or brokers beside it: :with audit:rf=4 7:r3", FORECAST, footer=4),
    Action("reset", "0", "0", "reset", "nothing beside the cluster as it is", FORECAST, footer=12),
    Action("act", "x", "x", "stop", "stop; what has been played by then stays", FORECAST, footer=7),
    Action("pane(1)", "tab", "tab", "next pane", "the next pane; in a command, complete the word"),
    Action("pane(-1)", "shift+tab", "shift+tab", "prev pane", "the previous pane"),
    Action("full", "f", "f", "full", "only this pane, and back"),
    Action("refresh", "r", "r", "refresh", "ask again now"),
    Action("clusters", "C", "C", "cluster", "switch to another cluster or kind of sandbox"),
    Action("export", "e", "e", "export", "write what is shown to a file: .txt .svg .json .csv"),
    Action("previous", "minus", "-", "last screen", "the screen you came from"),
    Action("theme", "T", "T", "theme", "next theme: dark, light, safe, ansi, mono", EVERYWHERE),
    Action(
        "quit_or_back",
        "q",
        "q",
        "back",
        "close, clear filter, go back; overview: quit",
        EVERYWHERE,
        footer=99,
    ),
    Action("back", "escape", "esc", "back", "as q, but never quits", EVERYWHERE),
    Action("leave", "Q,ctrl+q", "Q ctrl+q", "quit", "quit at once", EVERYWHERE),
    Action("interrupt", "ctrl+c", "ctrl+c", "copy marked", "copy the marked text, or say how to quit", EVERYWHERE),
    Action("suspend_process", "ctrl+z", "ctrl+z", "suspend", "back to the shell; fg returns", EVERYWHERE),
)
"""In the order in which help shows them."""

MOTIONS: tuple[tuple[str, str], ...] = (
    ("j k, up down", "move"),
    ("h l, left right", "close and open a branch; columns aside"),
    ("g G, home end", "top, bottom"),
    ("ctrl+d ctrl+u", "half a page down, up"),
    ("pgdn pgup", "a page down, up"),
    ("enter", "open the selected row"),
)
"""Reserved on every screen."""


def holding(place: str, actions: Iterable[Action] = ACTIONS) -> list[Action]:
    """The actions that hold on a screen, or on the overlay."""
    return [action for action in actions if place in action.places]


FOOTER = 5
"""Keys in the footer beside help and the way back."""


def footer_keys(
    place: str, actions: Iterable[Action] = ACTIONS, is_possible: Callable[[Action], bool] = lambda _: True
) -> list[tuple[str, str]]:
    """(sign, label) for the footer: help, the most useful keys of those that can do something now, the way back."""
    shown = sorted((action for action in holding(place, actions) if action.footer), key=lambda action: action.footer)
    middle = [action for action in shown if action.id not in _ALWAYS_IN_FOOTER and is_possible(action)][:FOOTER]
    first, last = ([action for action in shown if action.id == id] for id in _ALWAYS_IN_FOOTER)
    return [(action.sign.partition(" ")[0], action.label) for action in (*first, *middle, *last)]


_ALWAYS_IN_FOOTER = ("help", "quit_or_back")


def sign_of(id: str, actions: Iterable[Action] = ACTIONS) -> str:
    """The first key of an action, as a person reads it."""
    return next(action.sign for action in actions if action.id == id).partition(" ")[0]


_BROKERS = "kafka://"
_OF_BROKERS = {
    "Znodes": "Metadata",
    "znodes": "metadata",
    "the tree in ZooKeeper, as it is": "what the brokers report, as a tree",
    "the znode, partitions or group behind this row": "the metadata, partitions or group behind it",
    "the znode's past values, newest first": "its past values, or the records that wrote it",
    "go to 12:03:58, -5m, e118 (controller), zxid:0x1f": "go to 12:03:58, -5m, e118 (controller), offset:4711",
    "expire the broker's ZooKeeper session": "of ZooKeeper mode: expire the broker's session",
    "kill the controller": "kill the active controller",
    "controlled shutdown of the broker": "controlled shutdown of the broker or controller",
    "stop the broker as a long GC would; again: resume": "stop the process as a long GC would; again: resume",
    "cut the link, or broker from ZooKeeper; again: heal": "cut the link, or node from controllers; again: heal",
    "type one: topic orders, zk /brokers, broker 5": "type one: topic orders, broker 5, group billing",
}
"""Said of a ZooKeeper → said where there is none."""


def has_znodes(facts: HeaderFacts) -> bool:
    """Whether the tree is a ZooKeeper's."""
    return facts.generation != "kraft" and not facts.source.startswith(_BROKERS)


def tab_titles(place: str, facts: HeaderFacts) -> tuple[str, ...]:
    """The titles of the screens, in their order, as tabs on the screen called `place`; empty: it has no tab there."""
    shown = (screen.title if screen.is_tab or screen.name == place else "" for screen in REGISTRY)
    return tuple(shown if has_znodes(facts) else (_OF_BROKERS.get(title, title) for title in shown))


def worded(actions: Iterable[Action], facts: HeaderFacts) -> tuple[Action, ...]:
    """The actions as help tells of them."""
    if has_znodes(facts):
        return tuple(actions)
    return tuple(
        each._replace(label=_OF_BROKERS.get(each.label, each.label), help=_OF_BROKERS.get(each.help, each.help))
        for each in actions
    )

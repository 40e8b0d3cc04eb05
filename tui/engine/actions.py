"""The screens and the actions there are: every key beyond the motions, what it means and where it holds.

Bindings, the footer, the help overlay, the palette and `kdrill keys` read these tables; nothing else binds a key.
Screens are in the order of their tabs; the app has their classes (`tui/app/navigation.py`). On a KRaft cluster, or
through `kafka://`, the tree of screen 2 holds what brokers tell and no znodes: the last part has the words for that.
"""

from collections.abc import Iterable
from typing import NamedTuple

from tui.engine.messages import HeaderFacts


class CommandError(ValueError):
    """A command that cannot be understood; the message is one line."""


class Registered(NamedTuple):
    """A screen: its name within, its title, its key, what it is for."""

    name: str
    title: str
    key: str
    help: str


REGISTRY: tuple[Registered, ...] = (
    Registered("overview", "Overview", "1", "is it healthy, what changed"),
    Registered("znodes", "Znodes", "2", "what is really in ZooKeeper"),
    Registered("partitions", "Partitions", "3", "who leads, who is in sync"),
    Registered("consumers", "Consumers", "4", "who owns what, who is idle"),
    Registered("lab", "Lab", "5", "who would get what: strategies side by side"),
    Registered("drill", "Drill", "6", "what happens if brokers die, on a copy"),
    Registered("sweep", "Sweep", "7", "which brokers must not die: all of them, pairs, racks"),
    Registered("sandbox", "Sandbox", "8", "break it for real: kill, pause, cut off, and mend"),
    Registered("plans", "Plans", "9", "where replicas should be, and what it costs"),
    Registered("controller", "Brokers", "b", "who controls, which epochs, what is asked and not done"),
    Registered("logs", "Logs", "L", "segments, batches, records; how an offset is found; damage"),
    Registered("events", "Events", "i", "what happened, and the way back to each moment"),
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
FORMED = ("overview", "znodes", "partitions", "consumers", "lab", "drill", "logs")
"""Screens with a list or text of several forms."""
MAPS = ("partitions", "drill")
ZOOMED = ("partitions",)
GRAPHS = ("consumers", "lab")
TIMED = ("overview", "partitions", "consumers", "controller", "events")
"""Screens that show the past."""


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
    def name(self) -> str:
        """What the action is called in the settings, where it must keep its name: `sort`, `screen-logs`, `step-back`.

        One name is one thing wherever it holds: an id that several places have is remapped in all of them.
        """
        verb, _, argument = self.id.rstrip(")").replace("_", "-").removeprefix("wish").partition("(")
        return _NAMES.get(self.id) or "-".join(filter(None, (verb, _ARGUMENTS.get(argument, argument.strip("'")))))

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
    Action("filter", "slash", "/", "filter", "only what matches: words, field:value, !not", footer=2),
    Action("filter", "slash", "/", "find", "go to the next line with this; n and N to others", (OVERLAY,), footer=2),
    Action("command", "colon", ":", "cmd", "a command: topic orders, zk /brokers, broker 5, group g", footer=3),
    Action("command_palette", "ctrl+p", "ctrl+p", "palette", "all of this by name", EVERYWHERE),
    *(Action(f"screen('{each.name}')", each.key, each.key, each.title.lower(), each.help) for each in REGISTRY),
    Action("alerts", "a", "a", "alerts", "what is wrong now, worst first", footer=5),
    Action("sort", "s", "s", "sort", "sort by the next column; past the last, the list's own order", footer=7),
    Action("reverse", "S", "S", "reverse", "turn the order round"),
    Action("view", "v", "v", "view", "the next form: matrix, list; graph, table; bars; raw", FORMED, footer=6),
    Action("describe", "d", "d", "describe", "everything about the selected thing", footer=4),
    Action("related", "o", "o", "go to", "the znode, partitions or group behind the selection", footer=9),
    Action("copy", "y", "y", "copy", "copy the name of the selected row; in a text, all of it", EVERYWHERE, footer=10),
    Action("history", "H", "H", "history", "the values of the znode as they changed, newest first", ZNODES, footer=6),
    Action("copy_text", "Y", "Y", "copy text", "copy the text of the side pane"),
    Action("zoom", "z", "z", "zoom out", "one step back: topics, brokers, racks, partitions again", ZOOMED, footer=8),
    Action("zoom", "z", "z", "zoom", "partitions by owner, topic, one by one; what fits", ("consumers",), footer=8),
    Action("moves", "V", "V", "moves", "what a rebalance moved, or would move, on the graph", GRAPHS, footer=10),
    Action("brokers(1)", "right_parenthesis", ")", "brokers on", "show the next brokers of the map", MAPS),
    Action("brokers(-1)", "left_parenthesis", "(", "brokers back", "show the brokers before", MAPS),
    Action("pick", "space", "space", "mark", "mark the broker or rack, for K; l and h go across the map", MAPS),
    Action("kill", "K", "K", "what if", "on a copy: what is marked dies, or what the cursor is on", ZOOMED, footer=8),
    Action("for_real", "exclamation_mark", "!", "for real", "to this broker in the sandbox, to break it there", MAPS),
    Action("kill", "K", "K", "kill", "on a copy: the broker dies, or is spared; or all marked", DRILL, footer=4),
    Action("kill_rack", "R", "R", "rack", "all of its rack die, or are spared again", DRILL, footer=4),
    Action("wish('terminate')", "D", "D", "shut down", "the broker hands over and leaves, or stays", DRILL, footer=10),
    Action("restart", "U", "U", "up again", "the dead come back, or never; a dead one starts", DRILL, footer=11),
    Action(
        "policy",
        "P",
        "P",
        "policy",
        "unclean election by topic, everywhere; timeout usual, 6 s",
        DRILL,
        footer=12,
    ),
    Action("undo", "u", "u", "undo", "the drill before the last change", DRILL, footer=5),
    Action("reset", "0", "0", "reset", "nobody dies", DRILL),
    Action("step(-1)", "comma", ",", "back", "the moment before", DRILL, footer=4),
    Action("step(1)", "full_stop", ".", "step", "the next moment", DRILL, footer=4),
    Action("mark(-1)", "less_than_sign", "<", "mark before", "the mark before: deaths, losses, controllers", DRILL),
    Action("mark(1)", "greater_than_sign", ">", "next mark", "the next mark", DRILL),
    Action("time", "t", "t", "time", "go to a time: 18.2 is 18.2 s after the deaths", DRILL),
    Action("play", "p", "p", "play", "let the time of the drill pass, or stop it", DRILL, footer=6),
    Action("play", "p", "p", "pause", "stand still, or follow the cluster again", TIMED, footer=11),
    Action("step(-1)", "comma", ",", "back", "the moment before; more is learnt meanwhile", TIMED, footer=12),
    Action("step(1)", "full_stop", ".", "step", "the next moment", TIMED),
    Action(
        "mark(-1)", "less_than_sign", "<", "mark before", "brokers, controllers, leaders, faults, errors, yours", TIMED
    ),
    Action("mark(1)", "greater_than_sign", ">", "next mark", "the next mark", TIMED),
    Action("time", "t", "t", "time", "go to 12:03:58, -5m, e118 (controller), zxid:0x1f", TIMED),
    Action("compare", "equals_sign", "=", "compare", "this moment beside the one marked last, or the newest", TIMED),
    Action("put_mark", "m", "m", "mark", "mark this moment, with a note; < and > stop there", TIMED),
    Action("acknowledge", "A", "A", "known", "you know of this finding: quieter until it changes", OVERVIEW),
    Action("kill", "K", "K", "kill", "kill -9 the broker or server; a consumer vanishes", SANDBOX, footer=4),
    Action("wish('terminate')", "D", "D", "shut down", "the broker hands its partitions over and leaves", SANDBOX),
    Action("wish('pause')", "Z", "Z", "zombie", "stop the broker as a long GC does; let it go on", SANDBOX, footer=4),
    Action("restart", "U", "U", "up again", "start it, let it go on, heal the link", SANDBOX, footer=4),
    Action("wish('expire')", "E", "E", "expire", "end the broker's ZooKeeper session behind it", SANDBOX, footer=11),
    Action("failover", "F", "F", "failover", "kill the controller", SANDBOX, footer=11),
    Action("wish('cut')", "X", "X", "cut", "cut the link, or the broker from ZooKeeper; heal it", SANDBOX, footer=5),
    Action("wish('brake')", "B", "B", "brake", "slow the same links by 200 ms each way; heal them", SANDBOX, footer=11),
    Action("view", "v", "v", "lists", "processes, links and load as lists, or the picture again", SANDBOX, footer=6),
    Action("undo", "u", "u", "undo", "mend what was broken last", SANDBOX, footer=5),
    Action("reset", "0", "0", "mend all", "mend all that was broken, the last first", SANDBOX, footer=12),
    Action("view", "v", "v", "who dies", "brokers, pairs, racks, brokers and racks, random sets", SWEEP, footer=4),
    Action("policy", "P", "P", "policy", "unclean election as each topic has it, or everywhere", SWEEP, footer=5),
    Action("kill", "K", "K", "kill", "the consumer under the cursor dies, or is spared again", LAB, footer=4),
    Action("join", "J", "J", "join", "one more member joins; after three, nobody does", LAB, footer=5),
    Action("reset", "0", "0", "reset", "nobody dies, nobody joins, no group is made up", LAB),
    Action("made_up", "c", "c", "make up", "a group that is not there: :readers orders* 4", LAB, footer=11),
    Action("act", "x", "x", "replicas", "a plan for the replicas of the topics the group reads", LAB, footer=12),
    Action("kill", "K", "K", "leaves", "the broker under the cursor leaves, or stays after all", PLANS, footer=4),
    Action("act", "x", "x", "review", "what each batch changes, the verdict, the files; and back", PLANS, footer=4),
    Action("pick", "space", "space", "in or out", "in the review: leave the batch out, or take it in", PLANS),
    Action("view", "v", "v", "how far", "how far it goes; in a review: changes, verdict, files", PLANS, footer=5),
    Action("by", "M", "M", "measure", "fewest replicas or fewest bytes", PLANS, footer=6),
    Action("policy", "P", "P", "tolerance", "how far from the mean a broker may be: 0, 5, 10 %", PLANS, footer=11),
    Action("reset", "0", "0", "reset", "nothing is planned", PLANS),
    Action("kill", "K", "K", "its death", "on a copy: what the controller would write and send", CONTROLLER, footer=6),
    Action("pane(1)", "tab", "tab", "pane", "next pane; in a command, complete the word"),
    Action("pane(-1)", "shift+tab", "shift+tab", "pane", "previous pane"),
    Action("full", "f", "f", "full", "the pane at hand alone, and back"),
    Action("refresh", "r", "r", "refresh", "ask again now"),
    Action("clusters", "C", "C", "cluster", "another cluster of the configuration"),
    Action("export", "e", "e", "export", "what is shown to a file: .txt, .svg, .json, .csv"),
    Action("previous", "minus", "-", "before", "the screen before this one"),
    Action("theme", "T", "T", "theme", "next theme: dark, light, safe, ansi, mono", EVERYWHERE),
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


def holding(place: str, actions: Iterable[Action] = ACTIONS) -> list[Action]:
    """The actions that hold on a screen, or on the overlay."""
    return [action for action in actions if place in action.places]


def footer_keys(place: str, actions: Iterable[Action] = ACTIONS) -> list[tuple[str, str]]:
    """(sign, label) for the footer, most useful first."""
    shown = sorted((action for action in holding(place, actions) if action.footer), key=lambda action: action.footer)
    return [(action.sign.partition(" ")[0], action.label) for action in shown]


def sign_of(id: str, actions: Iterable[Action] = ACTIONS) -> str:
    """The first key of an action, as a person reads it."""
    return next(action.sign for action in actions if action.id == id).partition(" ")[0]


_BROKERS = "kafka://"
_OF_BROKERS = {
    "Znodes": "Metadata",
    "znodes": "metadata",
    "what is really in ZooKeeper": "what the brokers tell, as a tree",
    "the znode, partitions or group behind the selection": "the metadata, partitions or group behind the selection",
    "the values of the znode as they changed, newest first": "its values as they changed, newest first",
    "go to 12:03:58, -5m, e118 (controller), zxid:0x1f": "go to 12:03:58, -5m, e118 (controller)",
    "a command: topic orders, zk /brokers, broker 5, group g": "a command: topic orders, broker 5, group g",
}
"""Said of a ZooKeeper → said where there is none."""


def has_znodes(facts: HeaderFacts) -> bool:
    """Whether the tree is a ZooKeeper's."""
    return facts.generation != "kraft" and not facts.source.startswith(_BROKERS)


def tab_titles(facts: HeaderFacts) -> tuple[str, ...]:
    """The titles of the screens, in their order."""
    return TITLES if has_znodes(facts) else tuple(_OF_BROKERS.get(title, title) for title in TITLES)


def worded(actions: Iterable[Action], facts: HeaderFacts) -> tuple[Action, ...]:
    """The actions as help tells of them."""
    if has_znodes(facts):
        return tuple(actions)
    return tuple(
        each._replace(label=_OF_BROKERS.get(each.label, each.label), help=_OF_BROKERS.get(each.help, each.help))
        for each in actions
    )

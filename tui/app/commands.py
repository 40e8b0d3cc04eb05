"""What can be typed behind `:`. A table from a word to what it does; anything else is one clear line."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from os.path import commonprefix
from typing import Literal, Protocol

from tui.app.analysis_choices import with_change
from tui.engine.actions import SCREENS, CommandError
from tui.engine.conditions import NO_PLAN_YET
from tui.engine.history.queries import MarkMoment, SaveSnapshot
from tui.engine.messages import ActionRequest
from tui.engine.queries import SandboxRequest, WritePlan
from tui.engine.questions import MOST_MADE_UP, Request, added_of, setting_of
from tui.engine.view_state import ViewState


class TypedRequests(Protocol):
    """What knows the words of the command line; the app is given it when it is started."""

    def elsewhere(self, words: str) -> str: ...
    def request_of(self, words: str, at_hand: Mapping[str, str]) -> Request: ...
    def offered(self) -> Iterator[tuple[str, str]]: ...
    def finished(self, text: str) -> str: ...


LoadRequests = Callable[[], TypedRequests]
"""Called when they are first wanted: few dashboards act."""


class Commanded(Protocol):
    """What commands may do to the app."""

    view_state: ViewState

    def action_leave(self) -> None: ...
    def action_help(self) -> None: ...
    def action_theme(self) -> None: ...
    def action_alerts(self) -> None: ...
    def show_screen(self, name: str) -> None: ...
    def show_znode(self, path: str) -> None: ...
    def show_partitions(self, text: str) -> None: ...
    def show_group(self, name: str) -> None: ...
    def show_logs(self, folder: str) -> None: ...
    def show_history(self, folder: str) -> None: ...
    def look_up(self, wanted: str) -> None: ...
    def wish(self, wish: ActionRequest) -> None: ...
    def act(self, words: str) -> None: ...
    def request(self, words: str) -> None: ...
    def add_broker(self, broker: int, rack: str) -> None: ...
    def make_up(self, patterns: tuple[str, ...], consumers: int) -> None: ...
    def export(self, name: str) -> None: ...
    def switch(self, name: str) -> None: ...
    def go_in_time(self, to: Literal["time", "mark-after", "mark-before"], text: str) -> None: ...
    def compare(self, text: str) -> None: ...
    def set_notices(self, wanted: str) -> None: ...
    def begin_tour(self) -> None: ...
    def show_jobs(self) -> None: ...
    def stop_jobs(self) -> None: ...
    def go_live(self) -> None: ...


Command = Callable[[Commanded], None]


def _wish(make: Callable[[str], ActionRequest]) -> Callable[[str], Command]:
    return lambda text: lambda app: app.wish(make(text))


def _request(word: str) -> Callable[[str], Command]:
    return lambda words: lambda app: app.request(f"{word} {words}")


def _mark(to: Literal["mark-after", "mark-before"]) -> Callable[[str], Command]:
    return lambda kind: lambda app: app.go_in_time(to, kind)


def _add(text: str) -> Command:
    broker, _, rack = text.partition(":")
    if not (broker.isascii() and broker.isdecimal() and len(broker) < 11):
        raise CommandError(f":add needs ID or ID:RACK, not {text!r}")
    return lambda app: app.add_broker(int(broker), rack.strip())


def _readers(text: str) -> Command:
    patterns, _, number = text.rpartition(" ")
    wanted = tuple(filter(None, (pattern.strip() for pattern in patterns.split(","))))
    is_number = number.isascii() and number.isdecimal() and len(number) < 6
    if not (wanted and is_number and 1 <= int(number) <= MOST_MADE_UP):
        raise CommandError(f":readers needs PATTERN[,PATTERN] and 1 to {MOST_MADE_UP} consumers, as orders* 4")
    return lambda app: app.make_up(wanted, int(number))


def _forecast_with(text: str) -> Command:
    words = text.split()
    try:
        settings = tuple(setting_of(word) for word in words if "=" in word)
        add = tuple(added_of(word) for word in words if "=" not in word and word != "plan")
    except ValueError as error:
        raise CommandError(f":with needs TOPIC:KEY=VALUE, ID:RACK or plan: {error}") from None

    def command(app: Commanded) -> None:
        if "plan" in words and not app.view_state.plan.asked:
            raise CommandError(f":with plan: {NO_PLAN_YET}")
        app.view_state = with_change(app.view_state, settings, add, planned="plan" in words)
        app.show_screen("forecast")

    return command


REQUESTS = ("topics", "configs", "act")
"""Words that are followed by those of the command line."""

WORDS: dict[str, tuple[str, Callable[[str], Command]]] = {
    "zk": ("PATH", lambda path: lambda app: app.show_znode("/" + path.strip("/"))),
    "topic": ("NAME", lambda name: lambda app: app.show_partitions(f"topic:{name}")),
    "broker": ("ID", lambda number: lambda app: app.show_partitions(f"broker:{number}")),
    "group": ("NAME", lambda name: lambda app: app.show_group(name)),
    **{name: ("", lambda _, name=name: lambda app: app.show_screen(name)) for name in SCREENS},
    "logs": ("", lambda folder: lambda app: app.show_logs(folder)),
    "history": ("", lambda folder: lambda app: app.show_history(folder)),
    "offset": ("N", lambda offset: lambda app: app.look_up(f"offset {offset}")),
    "time": ("T", lambda time: lambda app: app.look_up(f"time {time}")),
    "fill": ("BROKER", _wish(partial(SandboxRequest, "fill"))),
    "corrupt": ("BROKER TOPIC-PARTITION", _wish(partial(SandboxRequest, "corrupt"))),
    "rate": ("RECORDS-A-SECOND", _wish(partial(SandboxRequest, "rate"))),
    "failover": ("", _wish(partial(SandboxRequest, "failover"))),
    "audit": ("", _wish(partial(SandboxRequest, "audit"))),
    "readers": ("PATTERN[,PATTERN] CONSUMERS", _readers),
    "add": ("ID:RACK", _add),
    "with": ("", _forecast_with),
    "plan": ("FILE.json", _wish(WritePlan)),
    "batches": ("FILE.json", _wish(lambda path: WritePlan(path, by_batch=True))),
    "reassign": ("", lambda how: lambda app: app.act(f"reassign {how}".strip())),
    "elect": ("", lambda names: lambda app: app.act(f"elect {names}".strip())),
    **{word: ("VERB --OPTIONS, as on the command line", _request(word)) for word in REQUESTS},
    "save": ("FILE.toml", _wish(partial(SandboxRequest, "save"))),
    "ctx": ("CLUSTER", lambda name: lambda app: app.switch(name)),
    "export": ("FILE.txt|svg|json|csv", lambda name: lambda app: app.export(name)),
    "at": ("TIME", lambda time: lambda app: app.go_in_time("time", time)),
    "next": ("", _mark("mark-after")),
    "before": ("", _mark("mark-before")),
    "mark": ("", _wish(MarkMoment)),
    "compare": ("", lambda text: lambda app: app.compare(text)),
    "notify": ("", lambda text: lambda app: app.set_notices(text)),
    "jobs": ("", lambda _: lambda app: app.show_jobs()),
    "stop": ("", lambda _: lambda app: app.stop_jobs()),
    "live": ("", lambda _: lambda app: app.go_live()),
    "snapshot": ("FILE.json", _wish(SaveSnapshot)),
    "findings": ("", lambda _: lambda app: app.action_alerts()),
    "theme": ("", lambda _: lambda app: app.action_theme()),
    "tour": ("", lambda _: lambda app: app.begin_tour()),
    "help": ("", lambda _: lambda app: app.action_help()),
    "quit": ("", lambda _: lambda app: app.action_leave()),
}
"""Word → (what must follow, how it becomes a command)."""


def parse_command(text: str) -> Command:
    """A typed line as a command; raises CommandError. A word may be shortened as long as one command begins so."""
    word, _, rest = text.strip().partition(" ")
    matches = _beginning(word)
    if len(matches) != 1:
        raise CommandError(f"no command {word!r}: try {', '.join(matches or WORDS)}")
    argument, make = WORDS[matches[0]]
    if argument and not rest.strip():
        raise CommandError(f":{matches[0]} needs {argument}")
    return make(rest.strip())


def completed(text: str, requests: LoadRequests, clusters: Iterable[str] = ()) -> str:
    """The line with its last word in full, as far as all that begin so agree; `clusters` are those to switch to."""
    word, blank, rest = text.partition(" ")
    if blank and word in REQUESTS:
        return requests().finished(text)
    if blank and word == "ctx":
        names = [name for name in clusters if name.startswith(rest)]
        return f"ctx {commonprefix(names)}" if names else text  # noqa: RUF071 - of names, not of paths
    matches = _beginning(word)
    if blank or not matches:
        return text
    agreed = commonprefix(matches)  # noqa: RUF071 - of words, not of paths
    return agreed + (" " if len(matches) == 1 and WORDS[matches[0]][0] else "")


OLD_WORDS = {"alerts": "findings"}
"""What a command was called before → what it is called."""


def _beginning(word: str) -> list[str]:
    word = OLD_WORDS.get(word, word)
    return [word] if word in WORDS else [name for name in WORDS if word and name.startswith(word)]

"""What can be typed behind `:`. A table from a word to what it does; anything else is one clear line."""

from collections.abc import Callable
from typing import Protocol

from tui.actions import SCREENS


class Commanded(Protocol):
    """What commands may do to the app."""

    def action_leave(self) -> None: ...
    def action_help(self) -> None: ...
    def action_theme(self) -> None: ...
    def action_alerts(self) -> None: ...
    def show_screen(self, name: str) -> None: ...
    def show_znode(self, path: str) -> None: ...
    def show_partitions(self, text: str) -> None: ...
    def show_group(self, name: str) -> None: ...
    def wish(self, verb: str, about: str) -> None: ...


Command = Callable[[Commanded], None]


class CommandError(ValueError):
    """A command that cannot be understood; the message is one line."""


def _wish(verb: str) -> Callable[[str], Command]:
    return lambda about: lambda app: app.wish(verb, about)


WORDS: dict[str, tuple[str, Callable[[str], Command]]] = {
    "zk": ("PATH", lambda path: lambda app: app.show_znode("/" + path.strip("/"))),
    "topic": ("NAME", lambda name: lambda app: app.show_partitions(f"topic:{name}")),
    "broker": ("ID", lambda number: lambda app: app.show_partitions(f"broker:{number}")),
    "group": ("NAME", lambda name: lambda app: app.show_group(name)),
    **{name: ("", lambda _, name=name: lambda app: app.show_screen(name)) for name in SCREENS},
    "fill": ("BROKER", _wish("fill")),
    "corrupt": ("BROKER TOPIC-PARTITION", _wish("corrupt")),
    "rate": ("RECORDS-A-SECOND", _wish("rate")),
    "failover": ("", _wish("failover")),
    "audit": ("", _wish("audit")),
    "save": ("FILE.toml", _wish("save")),
    "alerts": ("", lambda _: lambda app: app.action_alerts()),
    "theme": ("", lambda _: lambda app: app.action_theme()),
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


def completed(text: str) -> str:
    """The line with its first word in full, if only one command begins so."""
    word, blank, _ = text.partition(" ")
    matches = _beginning(word)
    if blank or len(matches) != 1:
        return text
    return matches[0] + (" " if WORDS[matches[0]][0] else "")


def _beginning(word: str) -> list[str]:
    return [word] if word in WORDS else [name for name in WORDS if word and name.startswith(word)]

"""What an operator may press, type, paste and click: all of the registry on every screen, then anything at all."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from textual.events import Paste

from tests.tui.dashboard import Keys, kdrill, mode, push, until
from tui.app.app import Kdrill
from tui.app.commands import WORDS
from tui.engine.actions import ACTIONS, OVERLAY, SCREENS, holding

MOTIONS = ("j", "k", "down", "up", "h", "l", "left", "right", "g", "G", "home", "end", "n", "N", "enter")
PAGING = ("ctrl+d", "ctrl+u", "pagedown", "pageup", "tab", "shift+tab", "space", "backspace", "escape")
TYPED = (
    *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    *("colon", "slash", "full_stop", "comma", "minus", "underscore", "exclamation_mark", "vertical_line"),
    *("left_parenthesis", "right_parenthesis", "less_than_sign", "greater_than_sign", "equals_sign", "at"),
)
OF_REGISTRY = tuple(key for action in ACTIONS for key in action.keys.split(","))
SIZES = ((80, 24), (60, 16), (30, 8), (130, 30), (200, 60))
PASTES = ("orders", "/brokers/ids/1", ":topics delete --topic orders\r", "a\nb\nc", "\x1b[31mred", "yes", "x" * 5_000)
ARGUMENTS = {
    "zk": ("/brokers/ids/1", "/nowhere"),
    "topic": ("orders",),
    "broker": ("1", "x"),
    "group": ("reports",),
    "offset": ("1",),
    "time": ("5",),
    "fill": ("1",),
    "corrupt": ("1 orders-0",),
    "rate": ("5",),
    "readers": ("orders* 4",),
    "add": ("9:r9",),
    "plan": ("plan.json",),
    "batches": ("batches.json",),
    "save": ("drill.toml",),
    "ctx": ("nowhere",),
    "export": ("screen.txt", "screen.svg", "screen.json", "screen.csv"),
    "snapshot": ("now.json",),
    "reassign": ("", "cancel", "rollback"),
    "elect": ("", "orders"),
    "topics": (
        "create --topic new --partitions 1 --replication-factor 1",
        "alter --topic orders --partitions 99",
        "delete --topic orders",
    ),
    "configs": ("alter --entity-type topics --entity-name orders --add-config retention.ms=5000",),
    "act": (
        "elect-preferred",
        "elect-preferred --topic orders",
        "elect-unclean --topic orders",
        "reset-offsets --group reports --all-topics --to-earliest",
        "delete-group --group reports",
        "remove-delete-marker --topic orders",
    ),
}
"""What follows a word; every word has been typed alone as well."""
PATIENT = 0.2
"""Of the keys: pressed once the screen stands still."""
WRITING = tuple(f"{word} {ARGUMENTS[word][0]}".strip() for word in ("reassign", "elect", "topics", "configs", "act"))
"""Commands that would change the cluster."""
PROPOSED = (f"topics {ARGUMENTS['topics'][0]}",)
"""Of these, what any cluster allows: with leave to write it is proposed, and waits to be confirmed."""


class Step(NamedTuple):
    """On a screen, a key or a command."""

    screen: str
    key: str = ""
    command: str = ""


def registry() -> Iterator[Step]:
    """Every key of the registry on every screen that it holds on, and everywhere else, too, where it should do
    nothing; what holds on an overlay is pressed there."""
    for screen in SCREENS:
        for key in dict.fromkeys((*OF_REGISTRY, *MOTIONS)):
            yield Step(screen, key)
    for action in holding(OVERLAY):
        for key in action.keys.split(","):
            yield Step(OVERLAY, key)


def commands() -> Iterator[Step]:
    """Every word behind the colon, as far as it goes."""
    for number, word in enumerate(WORDS):
        for argument in ("", *ARGUMENTS.get(word, ())):
            yield Step(SCREENS[number % len(SCREENS)], command=f"{word} {argument}".strip())


class Operator:
    """At a dashboard that does not end, as often as it is told to. `pressed`: keys so far, clicks and pastes too."""

    def __init__(self, pilot: Keys, dice: random.Random) -> None:
        self.pressed = 0
        self.quits = 0
        self._pilot = pilot
        self._dice = dice
        _keep_running(kdrill(pilot), self)

    async def take(self, step: Step) -> None:
        """Goes to the screen, and presses the key or types the command."""
        await self._stand_on("overview" if step.screen == OVERLAY else step.screen)
        if step.screen == OVERLAY:
            await self._press("d")
        if step.command:
            await self._type(f":{step.command}")
            await self._press("enter")
        else:
            await self._press(step.key)

    async def anything(self) -> None:
        """One random key, click, paste or other size."""
        dice = self._dice.random()
        if dice < 0.02:
            await self._pilot.resize_terminal(*self._dice.choice(SIZES))
            await self._calm()
        elif dice < 0.06:
            size = kdrill(self._pilot).size
            at = self._dice.randrange(size.width), self._dice.randrange(size.height)
            await self._pilot.click(offset=at, times=self._dice.choice((1, 1, 2)))
            await self._calm()
            self.pressed += 1
        elif dice < 0.08:
            kdrill(self._pilot).screen.post_message(Paste(self._dice.choice(PASTES)))
            await self._calm()
            self.pressed += 1
        else:
            await self._press(self._dice.choice(self._dice.choice((MOTIONS, PAGING, TYPED, OF_REGISTRY))))

    async def leave_everything(self) -> None:
        """Back to a large overview that follows the cluster, whatever is open."""
        await self._pilot.resize_terminal(120, 40)
        await self.take(Step("overview", command="live"))

    async def _stand_on(self, screen: str) -> None:
        app = kdrill(self._pilot)
        await self._calm()
        while len(app.screen_stack) > 1:
            await app.pop_screen()
        while app.page is not None and app.page.bottom.is_typing:
            await self._press("escape")
        if mode(self._pilot) != screen:
            await app.action_screen(screen)
            await self._calm()

    async def _press(self, key: str) -> None:
        """Most keys come before all is there that the one before brought, as from a hand that knows its way."""
        self.pressed += 1
        await push(self._pilot, key)
        if self._dice.random() < PATIENT:
            await self._calm()

    async def _type(self, line: str) -> None:
        self.pressed += len(line)
        for character in line:
            await push(self._pilot, character)

    async def _calm(self) -> None:
        """What follows has come, but for what never ends: brokers are asked again and again."""
        await until(self._pilot, lambda: True)


def _keep_running(app: Kdrill, operator: Operator) -> None:
    """Who quits is back at once, and the program is not suspended."""

    def quit(*_: object) -> None:
        operator.quits += 1

    vars(app)["exit"] = quit
    vars(app)["action_suspend_process"] = lambda: None

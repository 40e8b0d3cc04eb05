"""A command that does something to a cluster: its own options say what, those that all have say where and how."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from tui.command_line.act_options import ActOptions, takes_act_options
from tui.command_line.options import takes_source
from tui.data.opening import Opening

if TYPE_CHECKING:
    from tui.data.acting.requests import Request


class ActionCommand(click.Command):
    """Its function makes a `Request` of its own options; the command proposes it, asks, and carries it out."""

    def __init__(
        self, name: str | None, *, callback: Callable[..., "Request"], params: Sequence[click.Parameter], **more: Any
    ) -> None:
        self.make = callback
        self.own = tuple(params)
        run = takes_source(takes_act_options(_acting(callback)))
        common: list[click.Parameter] = run.__dict__.pop("__click_params__")
        super().__init__(name, callback=run, params=[*params, *reversed(common)], **more)

    def request(self, ctx: click.Context) -> "Request":
        """What is asked for. Raises click.ClickException for options that do not go together."""
        return ctx.invoke(self.make, **{str(each.name): ctx.params[str(each.name)] for each in self.own})


def _acting(make: Callable[..., "Request"]) -> Callable[..., None]:
    def act(opening: Opening, act: ActOptions, **own: Any) -> None:
        request = make(**own)
        from tui.command_line.proposing import act_on  # noqa: PLC0415 - what only makes a request does without

        act_on(opening, act, request)

    return act

"""The options of `kdrill drill` that say what is done to brokers, in the order in which they are given."""

from collections.abc import Callable, Iterator
from functools import wraps
from itertools import groupby
from operator import itemgetter
from typing import Any

import click

from model.drills.scenario import Act, Deed

Command = Callable[..., Any]

_ORDER = "tui.command_line.drill_acts.order"


class InOrder(click.Command):
    """A command that remembers the order of its options; click gives each option's values by themselves."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[_ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


def takes_acts(command: Command) -> Command:
    """What is done one after the other, which a command of class InOrder gets as `acts`."""

    def option(deed: Deed, text: str) -> Callable[[Command], Command]:
        return click.option(f"--{deed}", metavar="ID[,ID...]", multiple=True, help=text)

    @option(Deed.KILL, "brokers that die together; may be repeated")
    @option(Deed.STOP, "brokers that shut down together, controlled")
    @option(Deed.START, "brokers that start together: dead in the cluster, or by now")
    @wraps(command)
    def with_acts(kill: tuple[str, ...], stop: tuple[str, ...], start: tuple[str, ...], **others: Any) -> Any:
        words = {Deed.KILL: iter(kill), Deed.STOP: iter(stop), Deed.START: iter(start)}
        order = click.get_current_context().meta[_ORDER]
        given = [(Deed(name), next(words[Deed(name)])) for name in order if name in words]
        return command(acts=tuple(_acts(given)), **others)

    return with_acts


def _acts(given: list[tuple[Deed, str]]) -> Iterator[Act]:
    """The same deed twice in a row is one act."""
    for deed, group in groupby(given, key=itemgetter(0)):
        ids = {broker for _, text in group for broker in _ids(deed, text)}
        yield Act(deed, tuple(sorted(ids)))


def _ids(deed: Deed, text: str) -> Iterator[int]:
    for word in (part.strip() for part in text.split(",")):
        if not (word.isascii() and word.isdigit() and len(word) < 11):
            raise click.UsageError(f"--{deed}: {word!r} is no broker id")
        yield int(word)

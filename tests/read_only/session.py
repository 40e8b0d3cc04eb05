"""A session with the real dashboard and its real data process, and what became of the cluster meanwhile."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from tests.read_only.clusters import Counted
from tests.read_only.walk import PROPOSED, WRITING, Operator, Step, commands, registry
from tests.tui.dashboard import Keys, kdrill, mode, opened, rows, text, until
from tui.engine.link import ProcessLink
from tui.engine.messages import Opening

TOLD_EVERY = 100


class Report(NamedTuple):
    """`keys` that were pressed; `asked` on the wire, by name; `writes` among them."""

    keys: int
    quits: int
    asked: Counter[str]
    writes: Counter[str]


@asynccontextmanager
async def dashboard(source: str, *, allow_writes: bool = False) -> AsyncIterator[Keys]:
    """On a source, with a data process of its own."""
    opening = Opening(source=source, allow_writes=allow_writes)
    async with opened(source, size=(120, 40), link=lambda _: ProcessLink(opening), allow_writes=allow_writes) as pilot:
        yield pilot


async def press_keys(
    counted: Counted,
    keys: int,
    seed: int,
    *,
    allow_writes: bool = False,
    part: float = 1.0,
    tell: Callable[[str], object] = print,
) -> Report:
    """At least so many keys: this part of the registry and of the commands in a random order, then anything.

    Fails where the program falls over, does not answer at the end, or does not refuse, or propose, what would write.
    """
    dice = random.Random(seed)
    async with dashboard(counted.source, allow_writes=allow_writes) as pilot:
        operator = Operator(pilot, dice)
        steps = [*registry(), *commands()]
        for number, step in enumerate(dice.sample(steps, round(part * len(steps))), 1):
            await operator.take(step)
            if number % TOLD_EVERY == 0:
                tell(f"{number} steps, {operator.pressed:,} keys, writes: {dict(counted.writes) or 'none'}")
        while operator.pressed < keys:
            await operator.anything()
            if operator.pressed % TOLD_EVERY == 0:
                tell(f"{operator.pressed:,} keys, writes: {dict(counted.writes) or 'none'}")
        await operator.leave_everything()
        told = "to do it" if allow_writes else "without --allow-writes"
        for command in PROPOSED if allow_writes else WRITING:
            if (front := kdrill(pilot).page) is not None:
                front.say("")
            await operator.take(Step("partitions", command=command))
            await until(pilot, lambda: told in text(pilot))
        await operator.take(Step("overview", key="3"))
        await until(
            pilot, lambda: mode(pilot) == "partitions" and rows(pilot, "partitions").answer.unfiltered_total > 0
        )
        await until(pilot, lambda: kdrill(pilot).facts.phase == "live")
    return Report(operator.pressed, operator.quits, counted.asked, counted.writes)

"""The way to the desk of actions, which is loaded when one is wanted; and what is refused before that."""

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from model.cluster.cluster_image import ClusterImage
from tui.data.jobs import Jobs
from tui.data.messages import TextAnswer, TextQuery
from tui.data.opening import Opening

if TYPE_CHECKING:
    from model.planning.plan import Plan
    from tui.data.acting.desk import ActionDesk

ACT = "act"
"""What a proposal is asked for by, and the verb of the wish that confirms it."""

NOT_ALLOWED = "nothing is done to a cluster without --allow-writes: start kdrill with it"
NOTHING_PROPOSED = "nothing was done"
PAST = "this is a moment of the past: nothing can be done to it"


class ActionGate:
    """Used on one event loop. `opening`: what is acted on; None: nothing can be."""

    def __init__(
        self, opening: Opening | None, image: Callable[[], ClusterImage], jobs: Jobs, told: Callable[[str], object]
    ) -> None:
        """As `ActionDesk`."""
        self._told = told
        self._opening = opening
        self._image = image
        self._jobs = jobs
        self._desk: ActionDesk | None = None

    @property
    def allows_writes(self) -> bool:
        """Whether anything may be done."""
        return self._opening is not None and self._opening.allow_writes and not self._opening.is_served

    async def propose(self, query: TextQuery, plan: "Plan | None") -> TextAnswer:
        """The proposal as a text; without lines the title is why there is none."""
        if self._opening is None or not self.allows_writes:
            return TextAnswer(NOT_ALLOWED)
        if query.at:
            return TextAnswer(PAST)
        if (desk := self._desk) is None:
            module = await asyncio.to_thread(import_module, "tui.data.acting.desk")
            desk = self._desk = module.ActionDesk(self._opening, self._image, self._jobs, self._told)
        return await desk.propose(query, plan)

    async def confirm(self, typed: str) -> str:
        """Carries out what was proposed last; the sentence that says what came of it."""
        return NOTHING_PROPOSED if self._desk is None else await self._desk.confirm(typed)

    async def close(self) -> None:
        """Nothing more is begun."""
        if self._desk is not None:
            await self._desk.close()

"""The app on an event loop, until it ends: signals, and how it ended."""

import asyncio
import signal
from typing import Any, NamedTuple

from tui.app.app import Kdrill
from tui.engine.link import DataLink
from tui.engine.opening import Opening
from tui.engine.view_state import ViewState


class Ended(NamedTuple):
    """How the dashboard ended. `fatal`: why it did so by itself; `wanted`: what is to be opened next."""

    code: int
    fatal: str
    wanted: Opening | None
    theme: str
    theme_chosen: bool
    """Whether the operator went from one theme to another."""
    screen: str
    view_state: ViewState
    toured: bool
    """Whether a guided tour came to its end, or was ended."""


def run(link: DataLink, *, is_served: bool = False, **look: Any) -> Ended:
    """Runs the dashboard until it ends; `look` is what Kdrill takes. `is_served`: in a browser, not on a terminal."""
    kind = Kdrill
    if is_served:
        from tui.app.served import ServedKdrill as kind  # noqa: PLC0415, N813 - a terminal has no need of it
    return asyncio.run(_run(kind(link, **look)))


async def _run(app: Kdrill) -> Ended:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Not before the first screen stands: an exit while it is put together ends in its errors.
        loop.add_signal_handler(number, app.call_after_refresh, app.exit, 128 + number, 128 + number)
    code = await app.run_async()
    return Ended(
        code=(app.return_code or 0) or (code or 0),
        fatal=app.fatal,
        wanted=app.wanted,
        theme=app.theme,
        theme_chosen=app.theme != app.first_theme,
        screen=app.current_mode or "",
        view_state=app.view_state,
        toured=app.toured,
    )

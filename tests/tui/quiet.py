"""When an app has done all that its keys led to: known, not guessed from how busy the processor is.

Textual's pilot waits until the process seems idle: 20 ms and more for each key, too early on a loaded machine, and for
a second on one where something else runs in the process.
"""

import asyncio
import unicodedata
from typing import Any

from textual import events
from textual.app import App
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot


class Traffic:
    """Counts the messages that an app handled; to be its `message_hook`."""

    def __init__(self) -> None:
        self.handled = 0

    def __call__(self, _: Message) -> None:
        self.handled += 1


def send(app: App[Any], key: str) -> None:
    """A key is pressed, named as Textual names it; nothing is waited for."""
    name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
    try:
        character = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(name, name)))
    except KeyError:
        character = name if len(name) == 1 else None
    event = events.Key(name, character)
    event.set_sender(app)
    assert app._driver is not None
    app._driver.send_message(event)


async def resized(pilot: Pilot[Any], width: int, height: int) -> None:
    """Another size for the terminal, and everything is laid out for it: the pilot alone does not wait for that."""
    await pilot.resize_terminal(width, height)
    while not (pilot.app.screen.size == (width, height) and has_nothing_to_do(pilot.app)):
        await pilot.pause()


async def is_quiet(app: App[Any], traffic: Traffic) -> bool:
    """Lets the app handle what waits and paint; whether it had nothing to do, and no worker has.

    Every pump is handed a message. When all have come to it and nothing else was handled meanwhile, nothing else waits.
    """
    if not app._running:
        return True
    handled = traffic.handled
    handed = await _handed_round(app)
    await app.animator.wait_until_complete()
    return traffic.handled == handled + handed and has_nothing_to_do(app)


def has_nothing_to_do(app: App[Any]) -> bool:
    """Paints; whether nothing waits to be handled then, and no worker works. A pump may be busy with a message."""
    if not app._running:
        return True
    screen = app.screen
    screen._on_timer_update()
    return (
        all(worker.is_finished for worker in app.workers)
        and not any(pump._next_callbacks or pump.message_queue_size for pump in _pumps(app))
        and not (screen._layout_required or screen._scroll_required or screen._repaint_required)
        and not (screen._dirty_widgets or screen._callbacks or screen._recompose_required)
    )


def _pumps(app: App[Any]) -> list[MessagePump]:
    return [app, *app.screen.walk_children(with_self=True)]


async def _handed_round(app: App[Any]) -> int:
    """How many pumps took a message, each after all that was before it."""
    left = 0
    all_came, failed = asyncio.Event(), app._exception_event

    def come() -> None:
        nonlocal left
        left -= 1
        if not left:
            all_came.set()

    left = handed = sum(pump.call_later(come) for pump in _pumps(app))
    if handed:
        waits = [asyncio.create_task(each.wait()) for each in (all_came, failed)]
        await asyncio.wait(waits, timeout=1.0, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
    return handed

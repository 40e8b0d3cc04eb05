"""When an app has done all that its keys led to: known, not guessed from how busy the processor is.

Textual's pilot waits until the process seems idle: 20 ms and more for each key, too early on a loaded machine, and for
a second on one where something else runs in the process.
"""

import asyncio
import time
import unicodedata
from typing import Any

from textual import events
from textual.app import App
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot

TURNS = 4
"""Of the event loop, until a key that the driver was given is in the app's queue."""
LOOK_S = 0.001


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

    A pump that waits for a message has come to the end of all that it was given before.
    """
    if not app._running:
        return True
    handled = traffic.handled
    for _ in range(TURNS):
        await asyncio.sleep(0)
    ends_s = time.monotonic() + 1.0
    while not (all(_waits_for_a_message(pump) for pump in _pumps(app)) or app._exception_event.is_set()):
        if time.monotonic() > ends_s:
            break
        await asyncio.sleep(LOOK_S)
    await app.animator.wait_until_complete()
    return traffic.handled == handled and has_nothing_to_do(app)


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


def _waits_for_a_message(pump: MessagePump) -> bool:
    given = pump._message_queue.ready_event
    return (bool(given._waiters) and not given.is_set()) or pump._closing or pump._closed

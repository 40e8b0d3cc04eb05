"""Every list and text of the sandbox by its name."""

from collections.abc import Callable, Mapping

from model.sandbox.control.state import SandboxState
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.listing import Listing, Memory, window
from tui.data.pages.sandbox.links import sandbox_links
from tui.data.pages.sandbox.processes import process_text, sandbox_processes
from tui.data.pages.sandbox.standing import sandbox_standing
from tui.data.pages.sheets import Sheet
from tui.rows import Window

NO_SANDBOX = "this cluster is no sandbox, nothing here can break it: try `kdrill sandbox`"

LISTS: Mapping[str, Callable[[SandboxState, int], Listing]] = {
    "sandbox-processes": sandbox_processes,
    "sandbox-links": sandbox_links,
}
TEXTS: Mapping[str, Callable[[SandboxState, TextQuery, int], TextAnswer]] = {
    "sandbox": sandbox_standing,
    "sandbox-process": process_text,
}


def sandbox_window(state: SandboxState | None, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """The rows asked for."""
    if state is None:
        return Window(0, 0, (), note=NO_SANDBOX)
    return window(LISTS[query.list](state, now_ms), query, memory, now_ms)


def sandbox_text(state: SandboxState | None, query: TextQuery, now_ms: int) -> TextAnswer:
    """The text asked for."""
    if state is None:
        return Sheet("Sandbox", query.width).say(NO_SANDBOX).answer()
    return TEXTS[query.about](state, query, now_ms)

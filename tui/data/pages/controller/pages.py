"""The texts that need znodes beside the moment: which, and who writes the text."""

from collections.abc import Callable, Mapping, Sequence

from model.sources.feed import Moment
from model.znodes.paths import broker_path
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.controller.office import CONTROLLER, EPOCH, Znodes, office_text
from tui.data.pages.controller.registration import is_broker, registration_text
from tui.data.pages.listing import Memory

TEXTS: Mapping[str, Callable[[Moment, TextQuery, int, Memory, Znodes], TextAnswer]] = {
    "controller": office_text,
    "controller-broker": registration_text,
}


def znodes_behind(query: TextQuery) -> Sequence[str]:
    """Paths to read before the text is asked for."""
    if query.about == "controller":
        return (CONTROLLER, EPOCH)
    return (broker_path(int(query.key)),) if is_broker(query.key) else ()


def controller_text(moment: Moment, query: TextQuery, now_ms: int, memory: Memory, znodes: Znodes) -> TextAnswer:
    """The text asked for, one of TEXTS."""
    return TEXTS[query.about](moment, query, now_ms, memory, znodes)

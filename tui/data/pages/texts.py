"""Every text by what it is about. Znodes are not here: they have to be asked of the server."""

from collections.abc import Callable, Mapping

from model.sources.feed import Moment
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.brokers import broker_text
from tui.data.pages.controller.states import states_text
from tui.data.pages.events import event_text
from tui.data.pages.findings import finding_text
from tui.data.pages.group_text import group_text
from tui.data.pages.listing import Memory
from tui.data.pages.map.rack_text import rack_text
from tui.data.pages.map.topic_text import topic_text
from tui.data.pages.overview import overview_text
from tui.data.pages.partition_why import partition_text
from tui.data.plots import plot_text

TEXTS: Mapping[str, Callable[[Moment, TextQuery, int, Memory], TextAnswer]] = {
    "overview": lambda moment, query, _, __: overview_text(moment, query),
    "partition": lambda moment, query, now_ms, _: partition_text(moment, query, now_ms),
    "broker": broker_text,
    "topic": topic_text,
    "rack": rack_text,
    "group": lambda moment, query, _, memory: group_text(moment, query, memory),
    "states": lambda moment, query, _, memory: states_text(moment, query, memory),
    "finding": lambda moment, query, now_ms, _: finding_text(moment, query, now_ms),
    "event": lambda moment, query, _, __: event_text(moment, query),
    "plot": lambda moment, query, _, memory: plot_text(moment, query, memory),
}


def text_answer(moment: Moment, query: TextQuery, now_ms: int, memory: Memory | None = None) -> TextAnswer:
    """The text asked for; with the lists' memory, what they counted already is not counted again."""
    page = TEXTS.get(query.about)
    if page is None:
        return TextAnswer(query.about)
    return page(moment, query, now_ms, Memory() if memory is None else memory)

"""Queries by the names of lists and texts, and what the registry's pages show of a source, without a service."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

from model.sandbox.messages import SandboxState
from tests.tui.data.small_cluster import NOW_MS, moment_of, small_image
from tui.engine.listing import AnswerMemo, loaded, shown
from tui.engine.messages import ListQuery, TextAnswer, TextQuery
from tui.engine.registry import REGISTRY
from tui.engine.router import Entry, Router, Services
from tui.engine.rows import Window

ENTRIES = {entry.query: entry for entry in REGISTRY}
LISTS = {kind.name: kind for kind in ENTRIES if issubclass(kind, ListQuery)}
TEXTS = {kind.name: kind for kind in ENTRIES if issubclass(kind, TextQuery)}


def is_of_moment(entry: Entry) -> bool:
    """Whether its page takes no more than a moment."""
    by_moment = (Router.of_moment, Router.of_recent, Router.of_findings, Router.of_groups, Router.of_group)
    return entry.by in by_moment


MOMENT_LISTS = [name for name, kind in LISTS.items() if is_of_moment(ENTRIES[kind])]
MOMENT_TEXTS = [name for name, kind in TEXTS.items() if is_of_moment(ENTRIES[kind])]


def list_query(name: str, **fields: Any) -> Any:
    """The list's own query, with those of the fields that it has."""
    kind = LISTS[name]
    return kind(**{field: value for field, value in fields.items() if field in kind.__struct_fields__})


def text_query(name: str, **fields: Any) -> Any:
    """The text's own query, with those of the fields that it has."""
    kind = TEXTS[name]
    return kind(**{field: value for field, value in fields.items() if field in kind.__struct_fields__})


def rows_shown(source: object, query: ListQuery, now_ms: int = NOW_MS, memory: AnswerMemo | None = None) -> Window:
    """What the list's page shows."""
    answer = shown(loaded(ENTRIES[type(query)].page), source, query, now_ms, memory or AnswerMemo())
    assert isinstance(answer, Window)
    return answer


def text_shown(source: object, query: TextQuery, now_ms: int = NOW_MS, memory: AnswerMemo | None = None) -> TextAnswer:
    """What the text's page says."""
    answer = shown(loaded(ENTRIES[type(query)].page), source, query, now_ms, memory or AnswerMemo())
    assert isinstance(answer, TextAnswer)
    return answer


MOMENT = moment_of(small_image())


def router(
    entries: Iterable[Entry] = REGISTRY, *, is_served: bool = False, sandbox: SandboxState | None = None
) -> Router:
    """One of a cluster that stands still; it has no service but what says how the sandbox stands, if there is one."""
    services = cast(Services, SimpleNamespace(sandbox=sandbox and SimpleNamespace(state=sandbox)))
    return Router(
        entries, services, lambda: MOMENT, (lambda: NOW_MS, lambda: NOW_MS), lambda: None, is_served=is_served
    )

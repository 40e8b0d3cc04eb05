"""One registry: each list, text and wish has a row, and one that is made up needs no more than that."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.hosts.child_process import raw
from model.sources.feed import Moment
from model.sources.source import COSTLY
from tests.tui.data.asked import ENTRIES, router
from tui.engine.filters import Texts
from tui.engine.listing import Listing, loaded, place_in
from tui.engine.messages import ActionRequest, ListQuery, Query, TextQuery, TimedList, TimeQuery
from tui.engine.registry import REGISTRY
from tui.engine.router import Entry, Router, queries_of
from tui.engine.rows import Column, Row, Window, line


class SiteList(TimedList, frozen=True):
    """A list that there is not: every rack."""

    name = "sites"


def sites(moment: Moment, *_: object) -> Listing:
    names = sorted({broker.rack or "-" for broker in moment.image.brokers.values()})
    return Listing(
        count=len(names),
        fields=lambda: {"rack": Texts(lambda: names)},
        shown=("rack",),
        row=lambda index: Row(names[index], (line(names[index]),)),
        place=place_in(names),
        columns=(Column("rack", -4, "<", "rack"),),
        made_from=(moment.image.brokers,),
    )


def sent(query: Query, entries: tuple[Entry, ...] = REGISTRY) -> Query:
    """A query as the data process gets it."""
    return msgspec.msgpack.decode(raw(query), type=queries_of(entries))


async def test_a_new_list_needs_one_row() -> None:
    entries = (*REGISTRY, Entry(SiteList, Router.of_moment, sites))
    answer = await router(entries).answer(sent(SiteList(filter="r", sort="rack", reverse=True, key="r1"), entries))
    assert isinstance(answer, Window)
    keys = [row.key for row in answer.rows]
    assert keys == sorted(keys, reverse=True) and len(keys) > 1
    assert keys[answer.cursor] == "r1"


async def test_what_has_no_row_is_neither_understood_nor_answered() -> None:
    with pytest.raises(msgspec.ValidationError, match="SiteList"):
        sent(SiteList())
    with pytest.raises(LookupError):
        await router().answer(SiteList())


def _below(kind: type[Any]) -> set[type[Any]]:
    return {below for each in kind.__subclasses__() for below in (each, *_below(each))}


def test_every_query_of_the_engine_has_one_row() -> None:
    named = {each for kind in (ListQuery, TextQuery) for each in _below(kind) if each.name}
    known = {each for each in named | _below(ActionRequest) | {TimeQuery} if each.__module__.startswith("tui.engine.")}
    assert {*ENTRIES} == known and len(REGISTRY) == len(ENTRIES)
    for kind in (ListQuery, TextQuery):
        names = [each.name for each in ENTRIES if issubclass(each, kind)]
        assert len({*names}) == len(names)


@pytest.mark.parametrize("entry", REGISTRY, ids=lambda entry: entry.query.__name__)
def test_a_row_is_whole(entry: Entry) -> None:
    assert {*entry.wants} <= COSTLY
    assert entry.page is None or callable(loaded(entry.page))
    follows_time = (Router.of_moment, Router.of_ownership, Router.of_findings, Router.of_controller)
    assert "at" in entry.query.__struct_fields__ or entry.by not in follows_time


@given(st.sampled_from([each for each in ENTRIES if not issubclass(each, ActionRequest | TimeQuery)]), st.text())
def test_every_query_travels(kind: type[Any], key: str) -> None:
    query: Query = kind(key=key)
    assert sent(query) == query

"""Panes that come into sight are told so, whoever looks in the meantime where they are."""

from __future__ import annotations

import pytest

from tests.tui.dashboard import kdrill, opened, press, settled, text
from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveRows


async def test_who_looks_where_a_pane_is_takes_no_news_from_it(still: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pulse looks. It may come after a hidden pane was painted and shown, and before the layout."""
    told = list[LiveRows]()

    def on_show(pane: LiveRows) -> None:
        told.append(pane)
        pane.asking.shown()

    async with opened(still) as pilot:
        await press(pilot, "L")
        screen = kdrill(pilot).screen
        hidden = screen.query_one("#log-segments", LiveRows)
        monkeypatch.setattr(LiveRows, "on_show", on_show)
        screen._compositor.update_widgets({hidden})
        screen.query_one("#log-segments-frame", Framed).display = True
        assert not hidden.is_on_screen
        await settled(pilot)
        assert hidden.is_on_screen and hidden in told
        assert "waiting for data" not in text(pilot)

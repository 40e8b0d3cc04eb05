"""Why brokers are polled although the metadata log could be followed: said wherever it is told how a source fares."""

from __future__ import annotations

from dataclasses import replace

from model.sources.source import SourceStatus
from tests.tui.data.small_cluster import moment_of, small_image
from tui.cli.status import StatusOutput, document, text_of
from tui.engine.cluster.overview import header_facts
from tui.engine.service import is_news

WHY = "CLUSTER_ACTION is missing"
FOLLOWED = replace(moment_of(small_image()), status=SourceStatus("live", poll_ms=5_000))
POLLED = replace(FOLLOWED, status=SourceStatus("live", poll_ms=5_000, polled=WHY))


def test_it_is_said_in_the_header_and_by_status() -> None:
    assert (header_facts(POLLED).polled, header_facts(FOLLOWED).polled) == (WHY, "")
    assert f"polled: {WHY}" in text_of(POLLED).splitlines()
    assert "polled" not in text_of(FOLLOWED)
    assert document(POLLED)["polled"] == WHY


def test_that_it_differs_is_news() -> None:
    assert is_news(FOLLOWED, POLLED)
    assert not is_news(POLLED, POLLED)


def test_whoever_watches_is_told_again() -> None:
    told: list[str] = []

    def shown(moment: object) -> str:
        told.append("")
        return text_of(POLLED) if moment is POLLED else text_of(FOLLOWED)

    output = StatusOutput(shown, None, None, watches=True)
    for moment in (FOLLOWED, FOLLOWED, POLLED, POLLED):
        assert output.see(moment)
    assert len(told) == 2

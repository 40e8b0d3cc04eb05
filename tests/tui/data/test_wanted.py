"""What is asked of brokers follows what is in sight."""

import pytest

from model.sources.source import CONFIGS, COSTLY, GROUPS, LOG_DIRS
from tui.engine.messages import ListQuery, Query, TextQuery, TimeQuery, Wish
from tui.engine.sources import wanted_for


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (ListQuery(list="brokers"), set()),
        (ListQuery(list="groups"), {GROUPS}),
        (TextQuery(about="group"), {GROUPS}),
        (ListQuery(list="lab-groups"), {GROUPS}),
        (ListQuery(list="partitions"), {CONFIGS}),
        (ListQuery(list="plan-brokers"), {CONFIGS, LOG_DIRS}),
        (ListQuery(list="znodes"), {CONFIGS, LOG_DIRS}),
        (ListQuery(list="findings"), {GROUPS}),
        (Wish("stop"), set()),
        (TimeQuery("now"), set()),
    ],
)
def test_a_question_wants_what_it_shows(query: Query | TimeQuery, wanted: set[str]) -> None:
    assert set(wanted_for(query)) == wanted <= COSTLY

"""What is asked of brokers follows what is in sight."""

import pytest

from model.sources.source import CONFIGS, COSTLY, GROUPS, LOG_DIRS
from tests.tui.data.asked import ENTRIES
from tui.engine.cluster.queries import BrokerList, FindingList, ZnodeList
from tui.engine.messages import Query, StopJobs, TimeQuery
from tui.engine.queries import GroupList, GroupText, LabGroupList, PartitionList, PlanBrokerList


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (BrokerList(), set()),
        (GroupList(), {GROUPS}),
        (GroupText(), {GROUPS}),
        (LabGroupList(), {GROUPS}),
        (PartitionList(), {CONFIGS}),
        (PlanBrokerList(), {CONFIGS, LOG_DIRS}),
        (ZnodeList(), {CONFIGS, LOG_DIRS}),
        (FindingList(), {GROUPS}),
        (StopJobs(), set()),
        (TimeQuery("now"), set()),
    ],
)
def test_a_question_wants_what_it_shows(query: Query, wanted: set[str]) -> None:
    assert {*ENTRIES[type(query)].wants} == wanted <= COSTLY

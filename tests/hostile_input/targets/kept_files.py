"""What kdrill itself keeps between two runs, which somebody may have edited: views, a reassignment's journal."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec

from model.actions.proposal import ActionRefused
from model.actions.reassignment import ObservedCluster, OperatorDecided, ReassignmentPlan, ReplicaMove, RunState, Seen
from model.actions.reassignment_run import decide, outcome, started, wanted, wanted_by_all
from model.hosts.acting.reassigning import JOURNAL_FORMAT, JournalFile, ReassignmentJournal
from tests.hostile_input.broken_json import broken_json
from tests.hostile_input.shown import check_error, check_shown
from tests.hostile_input.target import Target
from tui.engine.remembered import recall, remember
from tui.engine.text import plain
from tui.engine.view_state import ViewState

_CLUSTER = "prod-eu1"
_VIEWS = b"""{"format":"kdrill.views/1","cluster":"prod-eu1","screen":"partitions","lists":{
"partitions":{"filter":"a:b",
"sort":"leader","reverse":true,"view":"topics","left":["topics","racks"]},"groups":{"filter":"x"}}}"""
_MOVES = tuple(ReplicaMove("orders", number, (1, 2), (2, 3)) for number in range(3))
_RUN = ReassignmentPlan(
    source="zk://a", plan="plan.json", begun_ms=1, route="zookeeper", moves=_MOVES, ends=(2, 3), rate=1000
)
_LOOK = b'{"format":"kdrill.look/1","theme":"light"}'


def _make_views(random: Random) -> bytes:
    """The look, NUL, and the views."""
    return broken_json(random, (_LOOK,)).replace(b"\0", b"") + b"\0" + broken_json(random, (_VIEWS,))


def _judge_views(case: bytes, folder: Path) -> None:
    look, _, views = case.partition(b"\0")
    if not list(folder.glob("views-*.json")):
        remember(folder, _CLUSTER, theme="light", screen="topics", view_state=ViewState())
    (folder / "look.json").write_bytes(look)
    next(folder.glob("views-*.json")).write_bytes(views)
    found = recall(folder, _CLUSTER)
    if found.note:
        check_error(found.note)
    remember(folder / "again", _CLUSTER, theme=found.theme, screen=found.screen, view_state=found.view_state)
    assert not recall(folder / "again", _CLUSTER).note


def _make_journal(random: Random) -> bytes:
    """Of a run that is on its way."""
    state = msgspec.structs.replace(started(_RUN), batch=random.randrange(2), kept={})
    return broken_json(random, (msgspec.json.encode(JournalFile(JOURNAL_FORMAT, _CLUSTER, state)),))


def _judge_journal(case: bytes, folder: Path) -> None:
    """The state, or a line; and whoever goes on from that state is told the next step, whatever it says."""
    journal = ReassignmentJournal(folder, _CLUSTER)
    journal.file.parent.mkdir(exist_ok=True)
    journal.file.write_bytes(case)
    try:
        state = journal.read()
    except ActionRefused as error:
        check_error(error)
        return
    assert isinstance(state, RunState)
    wanted(state)
    wanted_by_all(state)
    check_shown(plain(outcome(state)))
    for event in (OperatorDecided("roll-back"), Seen(ObservedCluster({}, frozenset()))):
        check_shown(plain(decide(state, event).said))


VIEWS = Target("remembered-views", _make_views, _judge_views)
JOURNAL = Target("journal", _make_journal, _judge_journal)

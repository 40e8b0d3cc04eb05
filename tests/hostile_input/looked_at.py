"""A cluster looked at as an operator does: what is wrong, what happened, every list and text."""

from __future__ import annotations

import json

import msgspec

from model.cluster.changes import changes_between
from model.cluster.cluster_image import EMPTY, ClusterImage, records_of
from model.cluster.findings import find
from model.cluster.snapshot_image import document_of
from model.recordings.playback import Encoder
from model.recordings.recorder import records_between
from model.sources.feed import Moment
from model.sources.source import SourceStatus
from tests.hostile_input.shown import check_lines, check_shown
from tests.tui.data.asked import MOMENT_LISTS, list_query, rows_shown, text_query, text_shown
from tui.cli.status import json_of, metrics_of, text_of
from tui.engine.listing import AnswerMemo
from tui.engine.queries import OwnershipList
from tui.engine.text import plain

NOW_MS = 1_790_000_000_000
WIDTH = 100


def look_at(image: ClusterImage, before: ClusterImage = EMPTY, *, whole: bool = False) -> None:
    """Findings, changes, status, recording and snapshot of it; with `whole` also every list and text of the screens."""
    findings = find(image)
    changes = changes_between(before, image)
    moment = Moment(1, image, findings, changes, SourceStatus("live"))
    check_shown(text_of(moment), ends="\n")
    assert json_of(moment).isascii()
    check_shown(metrics_of(moment, "hostile"), ends="\n")
    for change in changes:
        check_shown(plain(f"{change.subject}: {change.text}"))
    json.loads(msgspec.json.encode(document_of(image, findings.found)))
    tuple(records_of(image))
    encoder = Encoder()
    encoder.moment(NOW_MS, image.provenance, tuple(records_between(before, image)))
    encoder.table()
    if whole:
        _look_at_screens(moment)


def _look_at_screens(moment: Moment) -> None:
    memory, image = AnswerMemo(), moment.image
    for name in MOMENT_LISTS:
        for view in ("", "list", "topics", "racks"):
            shown = rows_shown(moment, list_query(name, width=WIDTH, view=view), NOW_MS, memory)
            check_lines(cell for row in shown.rows for cell in row.cells)
            check_shown(plain(shown.note))
    topics = list(image.topics.values())[:3]
    groups = [*image.groups, *image.classic_groups][:3]
    subjects = [
        ("overview", ""),
        ("states", ""),
        *(("broker", str(broker)) for broker in list(image.brokers)[:3]),
        *(("topic", topic.name) for topic in topics),
        *(("partition", f"{topic.name}-{row[0]}") for topic in topics for row in list(topic.rows())[:3]),
        *(("rack", broker.rack or "") for broker in list(image.brokers.values())[:2]),
        *(("group", group) for group in groups),
        *(("finding", f"{finding.kind} {finding.subject}") for finding in moment.findings.found[:5]),
    ]
    for about, key in subjects:
        answer = text_shown(moment, text_query(about, key=key, width=WIDTH), NOW_MS, memory)
        check_lines(answer.lines)
        check_shown(plain(answer.title))
    for group in groups:
        rows_shown(moment, OwnershipList(scope=group, width=WIDTH), NOW_MS)

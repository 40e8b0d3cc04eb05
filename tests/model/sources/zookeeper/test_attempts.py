"""How far attempts at a whole picture came: what is only told again is no progress."""

from __future__ import annotations

from model.hosts.zookeeper.settings import Usage
from model.sources.source import Progress
from model.sources.zookeeper.attempts import AttemptCounter


def test_an_attempt_counts_from_where_the_best_one_was() -> None:
    attempts = AttemptCounter()
    attempts.begin(Usage(answers=2))
    assert attempts.progress(Usage(answers=7, connections=1)) == Progress(5, connections=1)
    attempts.fail(Usage(answers=7), "/brokers/topics")
    assert attempts.progress(Usage(answers=9, connections=2)) == Progress(5, connections=2, unread="/brokers/topics")
    attempts.begin(Usage(answers=9))
    assert attempts.progress(Usage(answers=14, connections=2)).answers == 5
    assert attempts.progress(Usage(answers=15, connections=2)).answers == 6
    attempts.fail(Usage(answers=15), "")
    assert attempts.progress(Usage(answers=99, connections=3)) == Progress(6, connections=3, unread="/brokers/topics")

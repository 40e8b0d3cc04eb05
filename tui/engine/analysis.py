"""One question to the analyses and what there is of its answer, a value that pages draw."""

from typing import Any

import msgspec

from model.cluster.cluster_image import ClusterImage
from tui.engine.questions import PreviewQuestion, Question

STOPPED = "stopped: r works it out"


class AnalysisAnswer(msgspec.Struct, frozen=True):
    """`result` is None until it is there; `note` says how far it is, or why there is none."""

    question: Question
    image: ClusterImage
    result: Any = None
    note: str = ""
    engine: str = ""
    """Who worked it out: `in process`, `spark local[2]`."""
    where: str = ""
    """The same with why."""
    cost: str = ""
    """How long it took, and in how many tasks."""
    seconds: float = 0.0
    due_s: float = 0.0
    """When it may be worked out again without being asked, on the monotonic clock."""
    spark: str = ""
    """How Spark stands, one line; empty where there is none."""
    stale: bool = False
    """Whether a text about it has to say that the cluster is another one by now."""

    is_partial: bool = False
    """Whether `result` is what has been worked out of it so far."""

    @property
    def engine_facts(self) -> tuple[tuple[str, str], ...]:
        """Where it was worked out and why, what that took, and how Spark stands: what is known of it, with its name."""
        facts = (("engine", self.where), ("cost", self.cost), ("Spark", self.spark.removeprefix("Spark ")))
        return tuple(fact for fact in facts if fact[1])

    def is_stale(self, now: ClusterImage) -> bool:
        """Whether the cluster is another one by now, as far as answers depend on it."""
        then = self.image
        if isinstance(self.question, PreviewQuestion):
            parts = ((then.groups, now.groups), (then.classic_groups, now.classic_groups))
        else:
            parts = ((then.topics, now.topics), (then.brokers, now.brokers))
        return any(one is not other for one, other in parts)

"""What can be asked about a replica plan. Values; both processes load this."""

from typing import Literal

import msgspec

from tui.engine.messages import ListQuery, TextQuery, Wish


class PlanQuestion(msgspec.Struct, frozen=True, tag="plan"):
    """A replica plan; with `asked` False there is none yet."""

    remove: tuple[int, ...] = ()
    add: tuple[tuple[int, str], ...] = ()
    """(id, rack); the rack empty where the broker says it itself."""
    reach: Literal["balance", "forced", "racks", "leaders"] = "balance"
    by: Literal["count", "bytes"] = "count"
    tolerance_percent: float = 0.0
    replication_factor: int | None = None
    topics: tuple[str, ...] = ()
    """Patterns of the topics that may be touched; none: all, or those of a group."""
    topics_of: str = ""
    """Key of the group whose topics may be touched; empty: it is not about one."""
    left_out: tuple[int, ...] = ()
    """Numbers of the batches that the operator leaves out; the plan as such is the same."""
    asked: bool = False
    take: int = 0
    stopped: bool = False


NO_PLAN = PlanQuestion()


class PlanBrokerList(ListQuery, frozen=True, kw_only=True):
    """Every broker, before and after."""

    name = "plan-brokers"
    question: PlanQuestion = NO_PLAN


class PlanChangeList(PlanBrokerList, frozen=True):
    """Every partition that changes."""

    name = "plan-changes"


class PlanBatchList(PlanBrokerList, frozen=True):
    """Every batch."""

    name = "plan-batches"


class PlanText(TextQuery, frozen=True, kw_only=True):
    """What the plan comes to."""

    name = "plan"
    question: PlanQuestion = NO_PLAN


class PlanReviewText(PlanText, frozen=True, kw_only=True):
    """The batch whose number is the key, or all that are in; `view` is changes, verdict, forward or rollback."""

    name = "plan-review"
    view: str = ""


class WritePlan(Wish, frozen=True):
    """The plan and its way back as files; `by_batch`: two for each batch."""

    path: str
    by_batch: bool = False
    question: PlanQuestion = NO_PLAN

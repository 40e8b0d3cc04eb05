"""What can be asked about a replica plan. Values; both processes load this."""

from tui.engine.messages import ListQuery, PictureQuery, TextQuery, Wish
from tui.engine.questions import NO_PLAN, PlanQuestion


class PlanBrokerList(ListQuery, frozen=True, kw_only=True):
    name = "plan-brokers"
    question: PlanQuestion = NO_PLAN


class PlanChangeList(PlanBrokerList, frozen=True):
    name = "plan-changes"


class PlanBatchList(PlanBrokerList, frozen=True):
    name = "plan-batches"


class PlanText(TextQuery, frozen=True, kw_only=True):
    name = "plan"
    question: PlanQuestion = NO_PLAN


class PlanMatrix(PictureQuery, frozen=True, kw_only=True):
    """Who copies how much to whom."""

    name = "plan-matrix"
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

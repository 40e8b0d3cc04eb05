"""What can be asked of the rebalance lab. Values; both processes load this."""

from tui.engine.consumers.queries import GraphList
from tui.engine.messages import ListQuery, PictureQuery, PlotQuery, TextQuery
from tui.engine.questions import NO_QUESTION, NO_TRIAL, PLAYED, LabTrial, PreviewQuestion


class LabGroupList(ListQuery, frozen=True, kw_only=True):
    name = "lab-groups"
    question: PreviewQuestion = NO_QUESTION


class LabList(ListQuery, frozen=True, kw_only=True):
    """What is tried on one group; `scope` is its key."""

    question: PreviewQuestion = NO_QUESTION
    scope: str = ""
    trial: LabTrial = NO_TRIAL


class LabStrategyList(LabList, frozen=True):
    """Now and every strategy, partition by partition."""

    name = "lab-strategies"
    played: int = PLAYED
    """How far the strategy tried is played."""


class LabConsumerList(LabList, frozen=True):
    name = "lab-consumers"


class LabTotalList(ListQuery, frozen=True, kw_only=True):
    """Every strategy over all groups."""

    name = "lab-totals"
    question: PreviewQuestion = NO_QUESTION


class LabCaseList(ListQuery, frozen=True, kw_only=True):
    """All groups under all strategies, after every change."""

    name = "lab-cases"
    question: PreviewQuestion = NO_QUESTION


def trial_in(key: str) -> tuple[str, LabTrial]:
    """The group of a case's key, and what is tried on it there."""
    group, strategy, leaves, joins = key.split("\n")
    return group, LabTrial(strategy, leaves, int(joins))


class LabPartitionList(LabList, frozen=True):
    """Its partitions, those that move first."""

    name = "lab-partitions"


class LabGraphList(GraphList, frozen=True, kw_only=True):
    name = "lab-graph"
    question: PreviewQuestion = NO_QUESTION
    trial: LabTrial = NO_TRIAL


class LabText(TextQuery, frozen=True, kw_only=True):
    """What is tried on the group whose key is the key."""

    name = "lab"
    question: PreviewQuestion = NO_QUESTION
    trial: LabTrial = NO_TRIAL


class LabGroupText(LabText, frozen=True):
    name = "lab-group"


class LabPartitionText(LabText, frozen=True, kw_only=True):
    name = "lab-partition"
    group: str = ""


class LabFlow(PictureQuery, frozen=True, kw_only=True):
    """Who hands partitions to whom in the group in the key."""

    name = "lab-flow"
    question: PreviewQuestion = NO_QUESTION
    trial: LabTrial = NO_TRIAL
    played: int = PLAYED


class LabBars(PlotQuery, frozen=True, kw_only=True):
    name = "lab-bars"
    question: PreviewQuestion = NO_QUESTION
    trial: LabTrial = NO_TRIAL

"""What can be asked about consumer groups, the lab, logs, partitions and plans, and wished of clusters and the sandbox.

Values; both processes load this. What a subject with many queries is asked lies in its own folder.

In the ownership graph a row's key is the name of the consumer thread in it or, while the cursor is among the
partitions, the first partition of its node behind a sign. In log folders it is a path, and numbers behind it:
`tui.engine.logs.segments.key_of`.
"""

from tui.engine.messages import ActionRequest, ListQuery, PictureQuery, PlotQuery, TextQuery, TimedList, TimedText
from tui.engine.questions import (
    NO_FORECAST,
    NO_PLAN,
    NO_QUESTION,
    NO_TRIAL,
    PLAYED,
    ForecastQuestion,
    LabTrial,
    PlanQuestion,
    PreviewQuestion,
    Request,
)


class ProposalText(TextQuery, frozen=True, kw_only=True):
    """What it would take; a text without lines says in its title why there is none."""

    name = "act"
    words: str = ""
    """`elect NAME…` or `reassign HOW`."""
    request: Request | None = None
    """What is asked, where it is typed in the words of the command line."""
    question: PlanQuestion = NO_PLAN
    at: int = 0
    """As of TimedText: only to the newest moment anything can be done."""


class ConfirmProposal(ActionRequest, frozen=True):
    """Carries out what was proposed last, if `typed` is what has to be typed for it."""

    typed: str


PARTITION = "\t"
"""Before a partition's name: `\\torders-3`."""
HOP = "\n"
"""Before the key of a row: the nearest neighbour of that node in the other layer is meant."""
BLANK = "\r"
"""Before the number of a row in which the cursor's layer has no node."""

NO_REPLAY = -1
"""The graph as it is; any other frame has what moved in it."""
LAST_FRAME = 5
"""Of a replay, which begins with frame 0: as it was before."""
STILL = 6
"""Before and after in one picture: both edges of whatever moved."""
FRAME_S = 0.25


def nearest_neighbour(key: str) -> str:
    """Where an edge leads from this row; nowhere from a blank one."""
    return "" if not key or key.startswith(BLANK) else HOP + key


def is_partition(key: str) -> bool:
    """Whether the cursor is among the partitions."""
    return key.startswith(PARTITION)


def name_in(key: str) -> str:
    """The thread or partition that a key means; empty for a blank row."""
    return "" if key.startswith(BLANK) else key.removeprefix(PARTITION)


class GroupList(TimedList, frozen=True):
    name = "groups"


class GraphList(ListQuery, frozen=True, kw_only=True):
    """Who owns what in one group, as a table or a graph."""

    scope: str = ""
    """The group's name."""
    view: str = ""
    """table or graph, with a level behind it or none: graph-ranges, graph-topics, graph-partitions."""
    offset: int = 0
    """First row in view."""
    frame: int = NO_REPLAY
    """How far the last rebalance is replayed."""


class OwnershipList(GraphList, frozen=True, kw_only=True):
    name = "group"
    at: int = 0
    """As of TimedList."""


class GroupText(TimedText, frozen=True):
    name = "group"


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


class LogPartitionList(ListQuery, frozen=True, kw_only=True):
    """Partition folders in the folder `scope`; empty: where the source's brokers have theirs."""

    name = "log-partitions"
    scope: str = ""


class LogSegmentList(ListQuery, frozen=True, kw_only=True):
    """Segments of the partition folder `scope`; `view` is table or bars."""

    name = "log-segments"
    scope: str = ""
    view: str = ""


class LogBatchList(ListQuery, frozen=True, kw_only=True):
    """Batches of the segment whose key is `scope`, from a byte on."""

    name = "log-batches"
    scope: str = ""


class LogRecordList(ListQuery, frozen=True, kw_only=True):
    """Records of the batch whose key is `scope`."""

    name = "log-records"
    scope: str = ""


class LogLookupList(ListQuery, frozen=True, kw_only=True):
    """The batch that a look-up finds in the partition folder `scope`: two rows, or none.

    Their keys are the `scope` of the list of batches to show, and the batch's own. `wanted`: `offset N` or `time T`.
    """

    name = "log-lookup"
    scope: str = ""
    wanted: str = ""


class LogPartitionText(TextQuery, frozen=True):
    name = "log-partition"


class LogSegmentText(TextQuery, frozen=True):
    name = "log-segment"


class LogBatchText(TextQuery, frozen=True):
    name = "log-batch"


class LogRecordText(TextQuery, frozen=True):
    name = "log-record"


class LogLookupText(TextQuery, frozen=True, kw_only=True):
    """How `wanted` was looked for in the partition folder that is the key."""

    name = "log-lookup"
    wanted: str = ""


class PartitionList(TimedList, frozen=True, kw_only=True):
    """Every partition, with the map of replicas and brokers; or, from farther away, topics, brokers, racks."""

    name = "partitions"
    view: str = ""
    """matrix or list; topics, topics-other, brokers or racks."""
    offset: int = 0
    """First broker column of the map."""
    column: str = ""
    """What the cursor that goes across the map is on, one of its Across.things; empty: there is no such cursor."""
    marked: tuple[str, ...] = ()
    """What the operator marked: brokers, `b3`, and racks, `rack:r1`."""


class TopicList(TimedList, frozen=True):
    name = "topics"


class PartitionTextQuery(TimedText, frozen=True):
    name = "partition"


class TopicTextQuery(TimedText, frozen=True):
    name = "topic"


class PartitionPicture(PictureQuery, frozen=True, kw_only=True):
    """All partitions at a glance; `key` is the partition or topic whose place is shown."""

    name = "partitions-picture"
    at: int = 0
    """As of TimedText."""


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


class WritePlan(ActionRequest, frozen=True):
    """The plan and its way back as files; `by_batch`: two for each batch."""

    path: str
    by_batch: bool = False
    question: PlanQuestion = NO_PLAN


NO_SANDBOX = "Not a sandbox: faults are disabled. Start one with `kdrill sandbox`"


class ProcessList(ListQuery, frozen=True):
    name = "sandbox-processes"


class LinkList(ListQuery, frozen=True):
    name = "sandbox-links"


class ClusterPicture(PictureQuery, frozen=True):
    """The cursor is on the process whose name is the key."""

    name = "cluster-picture"


class SandboxText(TextQuery, frozen=True):
    name = "sandbox"


class ProcessText(TextQuery, frozen=True):
    name = "sandbox-process"


class SandboxRequest(ActionRequest, frozen=True):
    """`verb` is one of `tui.engine.sandbox.service.WISHES`, audit or save.

    `about` is the key of a row of the lists above, or what was typed behind a command.
    """

    verb: str
    about: str = ""


class ForecastTopicList(ListQuery, frozen=True, kw_only=True):
    """Topics by minutes a year in which a partition is under min ISR, or without leader; the worst first."""

    name = "forecast-topics"
    question: ForecastQuestion = NO_FORECAST


class ForecastMomentList(ListQuery, frozen=True, kw_only=True):
    """The worst moments of the topic `scope` in the years that were played."""

    name = "forecast-moments"
    question: ForecastQuestion = NO_FORECAST
    scope: str = ""


class ForecastCauseList(ListQuery, frozen=True, kw_only=True):
    """What is to blame for these minutes; a row's key is the cause's name, `broker 3`."""

    name = "forecast-causes"
    question: ForecastQuestion = NO_FORECAST


class ForecastActionList(ListQuery, frozen=True, kw_only=True):
    """What could be done, and what it saves."""

    name = "forecast-actions"
    question: ForecastQuestion = NO_FORECAST


class ForecastText(TextQuery, frozen=True, kw_only=True):
    """The forecast in sentences, and what it assumes; with a key, the topic, cause or action of that row."""

    name = "forecast"
    question: ForecastQuestion = NO_FORECAST

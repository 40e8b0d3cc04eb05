"""What can be asked about the cluster as a whole: lists, texts, wishes. Values; both processes load this."""

from tui.engine.messages import ActionRequest, ListQuery, PictureQuery, PlotQuery, TextQuery, TimedList, TimedText

NO_WORK = "No pending controller work"

COMMITTED = "offset-committed"
"""The kind of event that comes all the time while all is well; the list of events folds them."""
FOLDED = "folded"
"""What the key of a folded line begins with, and its subject follows."""


def unfolding(key: str) -> str:
    """The filter that lists what a folded line stands for."""
    group = key.removeprefix(f"{FOLDED}/group ")
    return f"kind:{COMMITTED}" + (f" subject:{group}" if group != key else "")


class BrokerList(TimedList, frozen=True):
    name = "brokers"


class EventList(TimedList, frozen=True):
    name = "events"


class EffectList(TimedList, frozen=True):
    name = "effects"


class FindingList(TimedList, frozen=True):
    name = "findings"


class AdminWorkList(TimedList, frozen=True):
    name = "admin-work"


class ZnodeList(ListQuery, frozen=True, kw_only=True):
    """The tree; always the newest."""

    name = "znodes"
    opened: tuple[str, ...] = ()
    """Paths of the znodes that are open."""


class RecordList(ListQuery, frozen=True):
    """Records of the metadata log, the newest first; always up to the newest."""

    name = "records"


class RecordText(TextQuery, frozen=True):
    """The record whose offset is the key."""

    name = "record"


class OverviewPicture(PictureQuery, frozen=True, kw_only=True):
    name = "overview"
    at: int = 0
    """As of TimedText."""


class BrokerTextQuery(TimedText, frozen=True):
    name = "broker"


class RackText(TimedText, frozen=True):
    name = "rack"


class ControllerText(TimedText, frozen=True):
    name = "controller"


class RegistrationText(TimedText, frozen=True):
    """The broker whose id is the key, with its registration."""

    name = "controller-broker"


class StatesText(TimedText, frozen=True):
    """The states that the controller holds; of KRaft, the quorum."""

    name = "states"


class FindingText(TimedText, frozen=True):
    name = "finding"


class EventText(TimedText, frozen=True):
    name = "event"


class BrokerPlot(PlotQuery, frozen=True, kw_only=True):
    name = "plot"
    at: int = 0
    """As of TimedText."""


class ZnodeText(TextQuery, frozen=True, kw_only=True):
    """The znode whose path is the key; `view` is decoded, raw or history."""

    name = "znode"
    view: str = ""


class ZnodeHistoryText(TextQuery, frozen=True):
    name = "znode-history"


class Acknowledge(ActionRequest, frozen=True):
    """The operator knows of the finding with this key, or no longer wants to."""

    key: str

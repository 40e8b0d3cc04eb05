"""What can be asked about the cluster as a whole: lists, texts, wishes. Values; both processes load this."""

from tui.engine.messages import ListQuery, PlotQuery, TextQuery, TimedList, TimedText, Wish


class BrokerList(TimedList, frozen=True):
    """Every broker."""

    name = "brokers"


class EventList(TimedList, frozen=True):
    """What happened up to the moment."""

    name = "events"


class EffectList(TimedList, frozen=True):
    """The same beside what was done to the sandbox."""

    name = "effects"


class FindingList(TimedList, frozen=True):
    """What is wrong."""

    name = "findings"


class AdminWorkList(TimedList, frozen=True):
    """What is asked of the controller and not done."""

    name = "admin-work"


class ZnodeList(ListQuery, frozen=True, kw_only=True):
    """The tree; always the newest."""

    name = "znodes"
    opened: tuple[str, ...] = ()
    """Paths of the znodes that are open."""


class OverviewText(TimedText, frozen=True):
    """Counts of the cluster."""

    name = "overview"


class BrokerText(TimedText, frozen=True):
    """The broker whose id is the key."""

    name = "broker"


class RackText(TimedText, frozen=True):
    """The rack whose name is the key."""

    name = "rack"


class ControllerText(TimedText, frozen=True):
    """Who controls, and under which epochs."""

    name = "controller"


class RegistrationText(TimedText, frozen=True):
    """The broker whose id is the key, with its registration."""

    name = "controller-broker"


class StatesText(TimedText, frozen=True):
    """The states that the controller holds; of KRaft, the quorum."""

    name = "states"


class FindingText(TimedText, frozen=True):
    """The finding with this key."""

    name = "finding"


class EventText(TimedText, frozen=True):
    """The event with this key."""

    name = "event"


class BrokerPlot(PlotQuery, frozen=True, kw_only=True):
    """Leaders and replicas by broker."""

    name = "plot"
    at: int = 0
    """As of TimedText."""


class ZnodeText(TextQuery, frozen=True, kw_only=True):
    """The znode whose path is the key; `view` is decoded, raw or history."""

    name = "znode"
    view: str = ""


class ZnodeHistoryText(TextQuery, frozen=True):
    """Its values as they changed."""

    name = "znode-history"


class Acknowledge(Wish, frozen=True):
    """The operator knows of the finding with this key, or no longer wants to."""

    key: str

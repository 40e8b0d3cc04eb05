"""What panes and screens need of the app they are in. No behaviour."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from textual.reactive import var
from textual.widget import Widget

from tui.app.commands import LoadRequests
from tui.app.theme import ThemedApp
from tui.app.tour import OVER, Tour
from tui.engine.actions import ACTIONS, Action, sign_of
from tui.engine.link import DataLink
from tui.engine.messages import ActionRequest, Direction, HeaderFacts, Opening, TextQuery, TimeAnswer
from tui.engine.view_state import ViewState


class LiveApp(ThemedApp[int]):
    """An app with a link to the data process, the operator's choices, and the number of the newest moment."""

    view_state: var[ViewState] = var(ViewState, init=False)
    seq: var[int] = var(0, init=False, always_update=True)
    facts: var[HeaderFacts] = var(HeaderFacts, init=False)
    past: var[TimeAnswer | None] = var[TimeAnswer | None](None, init=False)
    """The moment that is looked at; None: the newest."""
    changes: var[int] = var(0, init=False)
    """How many there were since the source was opened."""
    doing: var[str] = var("", init=False)
    """What is under way and takes a while; esc stops it."""
    tour: var[Tour] = var(OVER, init=False)
    link: DataLink
    requests: LoadRequests
    actions: tuple[Action, ...] = ACTIONS
    """The registry, with the keys that the settings give."""
    contexts: Mapping[str, Callable[[], Opening]] = MappingProxyType({})
    """Other clusters of the configuration by name, and how each is opened."""
    is_served = False
    """Whether a browser shows it."""

    def sign(self, id: str) -> str:
        """The key of an action, as a person reads it."""
        return sign_of(id, self.actions)

    def now_ms(self) -> int:
        """The time of day, ms since the epoch."""
        raise NotImplementedError

    def run_command(self, text: str) -> None:
        """Carries out a typed command."""
        raise NotImplementedError

    def describe(self, query: TextQuery, name: str | None = None) -> None:
        """Everything about one thing, over the screen; `name` where its key is not fit to be read."""
        raise NotImplementedError

    def open_source(self, source: str) -> None:
        """Opens another source; all that is open on this one ends."""
        raise NotImplementedError

    def show_screen(self, name: str) -> None:
        """Brings a screen to the front."""
        raise NotImplementedError

    def show_znode(self, path: str) -> None:
        """Goes to a znode in the tree."""
        raise NotImplementedError

    def show_partitions(self, text: str) -> None:
        """Goes to the partitions that match a filter."""
        raise NotImplementedError

    def show_partition(self, name: str) -> None:
        """Goes to one partition among those of its topic."""
        raise NotImplementedError

    def show_broker(self, broker: str) -> None:
        """Goes to a broker on the brokers' screen."""
        raise NotImplementedError

    def show_finding(self, key: str) -> None:
        """Goes to what a finding is about: a partition, a broker, a group, a znode."""
        raise NotImplementedError

    def show_group(self, name: str) -> None:
        """Goes to a consumer group."""
        raise NotImplementedError

    def show_logs(self, folder: str) -> None:
        """Goes to the logs in a folder of this machine; of the source itself, where it is empty."""
        raise NotImplementedError

    def look_up(self, wanted: str) -> None:
        """Looks for `offset N` or `time T` in the log at hand."""
        raise NotImplementedError

    def wish(self, wish: ActionRequest) -> None:
        """Breaks or mends something in the sandbox, or writes a plan; what was done is said on the last line."""
        raise NotImplementedError

    def break_for_real(self, thing: str) -> None:
        """Goes to this broker on the sandbox's screen, where it can be broken; `thing` as on maps, `b3`."""
        raise NotImplementedError

    def add_broker(self, broker: int, rack: str) -> None:
        """The plan may place replicas on this broker; the rack empty where it says it itself."""
        raise NotImplementedError

    def go_in_time(self, to: Direction, text: str = "") -> None:
        """Looks at another moment; `text` is a time as it is typed, or an event's key."""
        raise NotImplementedError

    def pause(self) -> None:
        """Stays at this moment, or goes back to the newest."""
        raise NotImplementedError

    def compare(self, text: str = "") -> None:
        """The moment looked at beside another: a mark's note, a time, `live`; empty: the latest mark, or the newest."""
        raise NotImplementedError

    def stop_jobs(self) -> None:
        """Ends what is under way."""
        raise NotImplementedError

    def go_live(self) -> None:
        """Follows the cluster again."""
        raise NotImplementedError


def live_app(widget: Widget) -> LiveApp:
    app = widget.app
    assert isinstance(app, LiveApp)
    return app

"""What panes and screens need of the app they are in. No behaviour."""

from textual.reactive import var
from textual.widget import Widget

from tui.data.link import DataLink
from tui.data.messages import HeaderFacts
from tui.state import ViewState
from tui.theme import ThemedApp


class LiveApp(ThemedApp[int]):
    """An app with a link to the data process, the operator's choices, and the number of the newest moment."""

    view_state: var[ViewState] = var(ViewState, init=False)
    seq: var[int] = var(0, init=False, always_update=True)
    facts: var[HeaderFacts] = var(HeaderFacts, init=False)
    link: DataLink

    def now_ms(self) -> int:
        """The time of day, ms since the epoch."""
        raise NotImplementedError

    def run_command(self, text: str) -> None:
        """Carries out a typed command."""
        raise NotImplementedError

    def describe(self, about: str, key: str, name: str | None = None) -> None:
        """Everything about one thing, over the screen; `name` where its key is not fit to be read."""
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

    def show_group(self, name: str) -> None:
        """Goes to a consumer group."""
        raise NotImplementedError

    def wish(self, verb: str, about: str) -> None:
        """Breaks or mends something in the sandbox; what was done is said on the last line."""
        raise NotImplementedError


def live_app(widget: Widget) -> LiveApp:
    """The app of a pane."""
    app = widget.app
    assert isinstance(app, LiveApp)
    return app

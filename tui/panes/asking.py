"""How a pane asks the data process: one question at a time, and none while nobody sees the answer."""

from collections.abc import Awaitable, Callable

from textual.widget import Widget

from tui.data.link import DataLost
from tui.panes.live_app import live_app

LATER_S = 0.1


class Asking:
    """Runs `ask` whenever `again` is called, never twice at a time, and not at all while the pane is out of sight.

    Who asks again while an answer is under way asks once more afterwards, not at once. A question not asked because
    the pane was out of sight stays due. `fail` is told in one line why there is no answer.
    """

    def __init__(self, pane: Widget, ask: Callable[[], Awaitable[None]], fail: Callable[[str], None]) -> None:
        self._pane = pane
        self._ask = ask
        self._fail = fail
        self._is_due = False
        self._is_under_way = False

    def begin(self) -> None:
        """The pane is mounted: asks whenever there is something new, and when its screen comes to the front."""
        pane = self._pane
        pane.watch(live_app(pane), "seq", self.again, init=False)
        pane.watch(pane.screen, "wakes", self.again, init=False)

    def again(self) -> None:
        """The answer may be another one now."""
        self._is_due = True
        self._begin()

    def after_frame(self) -> None:
        """As `again`, once what was changed is on the screen: whoever pressed a key looks there first."""
        self._is_due = True
        self._pane.call_after_refresh(self._begin)

    def shown(self) -> None:
        """The pane comes into sight; it is told so before it has a place there."""
        self.if_due()
        self._pane.call_after_refresh(self.if_due)

    def _begin(self) -> None:
        self.if_due()
        self._look_later()

    def if_due(self) -> None:
        """The pane may have come into sight."""
        if self._is_due and not self._is_under_way and self._is_in_sight():
            self._is_under_way = True
            # A worker: it ends with the pane, and a defect in it is not lost.
            self._pane.run_worker(self._run, name="ask")

    @property
    def is_settled(self) -> bool:
        """Whether what is shown answers the last question, as far as anybody sees it."""
        return not self._is_under_way and not (self._is_due and self._is_in_sight())

    def _is_in_sight(self) -> bool:
        pane = self._pane
        return pane.is_attached and pane.screen.is_active and pane.is_on_screen

    async def _run(self) -> None:
        try:
            while self._is_due and self._is_in_sight():
                self._is_due = False
                try:
                    await self._ask()
                except DataLost as lost:
                    self._fail(str(lost))
        finally:
            self._is_under_way = False
            self._look_later()

    def _look_later(self) -> None:
        """A pane may be told that it is in sight before it has a place there, and is not told again.

        A page that is not in front wakes its panes when it comes there.
        """
        pane = self._pane
        if self._is_due and not self._is_under_way and pane.is_attached and pane.screen.is_active:
            pane.set_timer(LATER_S, self.if_due)

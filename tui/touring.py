"""The app on the guided tour: it goes on as the cluster and the screens do, and ends when the operator says so."""

from tui.data.messages import SANDBOX, HeaderFacts
from tui.panes.live_app import LiveApp
from tui.tour import BEGUN, OVER, followed


class Touring(LiveApp):
    """An app that may be on tour."""

    toured = False
    """Whether a tour came to its end, or was ended."""

    def begin_tour(self) -> None:
        """From its first step; only a sandbox has one."""
        if self.facts.kind == SANDBOX:
            self.tour = BEGUN
            self.go_on_tour()
        else:
            self._tell("the tour is of a sandbox: kdrill without a SOURCE opens one")

    def end_tour(self) -> bool:
        """Whether there was one to end."""
        is_on = not self.tour.is_over
        self.toured, self.tour = self.toured or is_on, OVER
        return is_on

    def go_on_tour(self) -> None:
        """Takes the steps that have happened."""
        after = followed(self.tour, self.facts, self.current_mode or "")
        if after.is_over:
            self.end_tour()
        else:
            self.tour = after

    def watch_facts(self, _: HeaderFacts) -> None:
        self.go_on_tour()

    def _tell(self, said: str) -> None:
        """Says it on the last line of what is in front, now."""
        raise NotImplementedError

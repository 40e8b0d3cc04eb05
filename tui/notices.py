"""What became critical, said once on the last line: it takes no focus and no key, and goes by itself. All of it can be
read later among the events.
"""

from tui.data.messages import NO_NOTICE, Notice
from tui.panes.live_app import LiveApp

HOW = ":notify on or :notify off"


class Noticing(LiveApp):
    """An app that says what the data process wants said. How often that is, the data process decides."""

    notices_on = True
    last_notice = NO_NOTICE

    def take_notice(self, notice: Notice) -> None:
        """Says it, unless it was said before, or nothing is to be said."""
        is_new, self.last_notice = notice.number > self.last_notice.number, notice
        if is_new and self.notices_on:
            self._announce(notice.text)

    def set_notices(self, wanted: str) -> None:
        """`on` or `off`; anything else says which it is."""
        if wanted in ("on", "off"):
            self.notices_on = wanted == "on"
        state = "on" if self.notices_on else "off"
        events = self.sign("screen('events')")
        self._tell(f"notices are {state}: {HOW}; {events} has all of them")

    def _announce(self, said: str) -> None:
        """Says it on the last line of what is in front, when nothing else is said there."""
        raise NotImplementedError

    def _tell(self, said: str) -> None:
        """Says it on the last line of what is in front, now."""
        raise NotImplementedError

"""What an operator wants done to the cluster: proposed first, then confirmed. Values; both processes load this."""

from tui.engine.messages import TextQuery, Wish
from tui.engine.questions import NO_PLAN, PlanQuestion
from tui.engine.requests import Request


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


class ConfirmProposal(Wish, frozen=True):
    """Carries out what was proposed last, if `typed` is what has to be typed for it."""

    typed: str

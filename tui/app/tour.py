"""The guided tour of the sandbox: kill the controller, watch the epoch, bring it back. Pure; draws and presses nothing.

With ZooKeeper the controller is a broker: it dies, and its partitions are led by others. In KRaft mode it is one of a
quorum, and brokers serve on.
A step is left when what it asks for has happened, by whatever key, in the cluster or on the screen; till then it waits.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

from tui.engine.messages import HeaderFacts
from tui.engine.rows import Line, Span, line, span

Step = Literal["look", "kill", "see", "mend", "go", "over"]
STEPS: tuple[Step, ...] = ("look", "kill", "see", "mend", "go", "over")


class Tour(msgspec.Struct, frozen=True):
    """How far it is."""

    step: Step = "over"
    controller: int | None = None
    """Who controlled when it began; None until that is known."""
    epoch: int | None = None
    """The controller epoch of then."""
    screen: str = ""
    """The screen on which the step began."""

    @property
    def is_over(self) -> bool:
        """Whether there is nothing to say any more; so it is also before it begins."""
        return self.step == "over"


OVER = Tour()
BEGUN = Tour("look")


def followed(tour: Tour, facts: HeaderFacts, screen: str) -> Tour:
    """The tour, now that the cluster is like this and this screen in front. What did not happen is waited for."""
    if tour.is_over or facts.phase != "live":
        return tour
    if tour.epoch is None:
        if facts.controller is None or facts.controller_epoch is None:
            return tour
        tour = msgspec.structs.replace(tour, controller=facts.controller, epoch=facts.controller_epoch)
    while (step := _step(tour, facts, screen)) != tour.step:
        tour = msgspec.structs.replace(tour, step=step, screen=screen)
    return tour


def _step(tour: Tour, facts: HeaderFacts, screen: str) -> Step:
    match tour.step:
        case "look" | "kill" if _has_moved(tour, facts):
            return "see"
        case "look" if screen == "sandbox":
            return "kill"
        case "see" if screen == ("controller" if _is_kraft(facts) else "partitions"):
            return "mend"
        case "mend" if not (facts.brokers_down or facts.under_replicated or facts.voters_missing):
            return "go"
        case "go" if screen != tour.screen:
            return "over"
        case step:
            return step


def _has_moved(tour: Tour, facts: HeaderFacts) -> bool:
    return facts.controller is not None and (facts.controller_epoch or 0) > (tour.epoch or 0)


def tour_line(tour: Tour, facts: HeaderFacts, sign: Callable[[str], str]) -> Line:
    """What the step says; nothing when it is over. `sign`: the key of an action, by its id."""
    if tour.is_over:
        return ()
    head = span(f" Tour {STEPS.index(tour.step) + 1} of {len(STEPS) - 1}  ", "title")
    return line(
        head, *_said(tour, facts, lambda id: span(sign(id), "key")), ("  ", ""), (sign("back"), "key"), " ends it"
    )


def _is_kraft(facts: HeaderFacts) -> bool:
    return facts.generation == "kraft"


def _said(tour: Tour, facts: HeaderFacts, key: Callable[[str], Span]) -> Line:
    if _is_kraft(facts):
        return _said_of_quorum(tour, facts, key)
    victim, epoch = f"broker {tour.controller}", facts.controller_epoch
    match tour.step:
        case "look" if tour.epoch is None:
            changes = " changes between ZooKeeper and KRaft."
            return line(
                "A real cluster is starting on this machine; it takes a few seconds. ", key("clusters"), changes
            )
        case "look":
            names = f"Row one names the controller: {victim}, elected in epoch {tour.epoch}. Press "
            other = ("; ", key("clusters"), ": the same without ZooKeeper (KRaft).")
            return line(names, key("screen('sandbox')"), " to break it", *other)
        case "kill" if facts.controller is None:
            return line(
                f"The session of {victim} is over and /controller is gone. The first broker to write it is next."
            )
        case "kill":
            dies = ": kill -9. The picture counts down its ZooKeeper session."
            return line(f"Put the cursor on {victim}, the controller, and press ", key("kill"), dies)
        case "see":
            won = "again" if facts.controller == tour.controller else f"now, and elected leaders where {victim} led"
            moved = f"Epoch {tour.epoch} became {epoch}: broker {facts.controller} is controller {won}. Press "
            return line(moved, key("screen('partitions')"), " to see.")
        case "mend" if facts.brokers_down:
            lost = f"{facts.under_replicated} partitions are under-replicated. Bring {victim} back: "
            there = (key("screen('sandbox')"), ", then ", key("restart"), " with the cursor on it, or ")
            return line(lost, *there, key("reset"), ", which undoes every fault.")
        case "mend":
            return line(f"All brokers are up and catching up: {facts.under_replicated} partitions to go.")
        case _:
            return _over(f"In sync again, and still epoch {epoch}: a returning broker does not take over.", key)


def _said_of_quorum(tour: Tour, facts: HeaderFacts, key: Callable[[str], Span]) -> Line:
    """In KRaft mode."""
    victim, epoch = f"controller {tour.controller}", facts.controller_epoch
    match tour.step:
        case "look":
            names = f"Row one names the active controller: {tour.controller}, elected in epoch {tour.epoch}. Press "
            other = ("; ", key("clusters"), ": the same with ZooKeeper.")
            return line(names, key("screen('sandbox')"), " to break it", *other)
        case "kill" if facts.controller is None:
            return line("No controller is active: the others ask each other for votes. Brokers serve on meanwhile.")
        case "kill":
            dies = ": kill -9. No partition loses its leader."
            return line(f"Put the cursor on {victim}, the active one, and press ", key("kill"), dies)
        case "see":
            won = "again" if facts.controller == tour.controller else "now, and no partition lost its leader"
            moved = f"Epoch {tour.epoch} became {epoch}: controller {facts.controller} is active {won}. Press "
            return line(moved, key("screen('controller')"), " to see its quorum.")
        case "mend" if facts.voters_missing:
            lost = f"{facts.voters_missing} of the voters is missing; without a majority nothing is written. "
            there = (key("screen('sandbox')"), ", then ", key("restart"), f" on {victim} brings it back, or ")
            return line(lost, *there, key("reset"), ", which undoes every fault.")
        case "mend":
            return line(f"All voters are back: {facts.under_replicated} partitions to go.")
        case _:
            return _over(f"All voters are back, and it is still epoch {epoch}: who returns follows.", key)


def _over(told: str, key: Callable[[str], Span]) -> Line:
    """The last step, and where to go on."""
    drill, plans, all_keys = map(key, ("screen('drill')", "screen('plans')", "help"))
    return line(f"{told} Next: ", drill, " fails brokers on a copy, ", plans, " plans, ", all_keys, " lists all keys.")

"""Plays the drill that the screen asks for, in a thread, one at a time; another one asked for ends it.

Nobody waits for a drill: `look` says at once how far it is. It draws nothing and can reach no cluster.
"""

import threading
from collections.abc import Callable

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.drills.drill import Progress, play, usual
from model.drills.scenario import Act, Deed, Scenario, ScenarioError, dead_brokers
from model.hosts.crash_reports import crash_line
from model.hosts.virtual.assumptions import Assumptions
from tui.data.drills.film import Film, film_of
from tui.data.messages import STOPPABLE, DrillPlan
from tui.data.pages.map.counted import rack_name


class Look(msgspec.Struct, frozen=True):
    """What there is of a drill: the film, or a line that says why there is none yet; and what it is played on."""

    plan: DrillPlan
    image: ClusterImage
    film: Film | None = None
    note: str = ""
    dead: tuple[int, ...] = ()
    """Brokers of the cluster that are dead before it begins."""

    def is_stale(self, now: ClusterImage) -> bool:
        """Whether the cluster is another one by now."""
        return self.image.topics is not now.topics or self.image.brokers is not now.brokers


class DrillDesk:
    """Used from one thread. `news` is called from another one when a look has changed."""

    def __init__(self, image: Callable[[], ClusterImage], news: Callable[[], None]) -> None:
        """image: the cluster as it is now."""
        self._image = image
        self._news = news
        self._ended = threading.Event()
        self._look = _look(DrillPlan(take=-1), image())

    def look(self, plan: DrillPlan) -> Look:
        """How the drill stands; begins to play one that was not asked for before."""
        last = self._look
        if plan == last.plan:
            return last
        self.close()
        image = last.image if last.film is not None and plan.take == last.plan.take else self._image()
        look = _look(plan, image, last)
        if not scenario_of(look).acts:
            return _look(plan, self._image(), last, note=NOBODY if plan.kill or plan.racks else CHOOSE)
        note = STOPPED if plan.stopped else f"setting the stage; {STOPPABLE}"
        self._look = msgspec.structs.replace(look, note=note)
        if not plan.stopped:
            self._ended = threading.Event()
            threading.Thread(target=self._play, args=(self._look, self._ended), daemon=True, name="drill").start()
        return self._look

    @property
    def under_way(self) -> list[str]:
        """What is being played, a line each."""
        return [f"drill: {self._look.note}"] if STOPPABLE in self._look.note else []

    def close(self) -> None:
        """Ends what is being played."""
        self._ended.set()

    def _play(self, look: Look, ended: threading.Event) -> None:
        try:
            steps = play(look.image, scenario_of(look), assumptions_of(look))
            while True:
                try:
                    progress = next(steps)
                except StopIteration as end:
                    self._tell(msgspec.structs.replace(look, film=film_of(end.value), note=""), ended)
                    return
                if ended.is_set():
                    return
                self._tell(msgspec.structs.replace(look, note=_so_far(progress)), ended)
        except ScenarioError as error:
            self._tell(msgspec.structs.replace(look, note=str(error)), ended)
        except Exception as error:  # the dashboard lives on, and says what failed
            self._tell(msgspec.structs.replace(look, note=crash_line(error)), ended)

    def _tell(self, look: Look, ended: threading.Event) -> None:
        if not ended.is_set():
            self._look = look
            self._news()


CHOOSE = "nobody dies yet: K kills the broker under the cursor, R its rack; D shuts it down"
NOBODY = "none of them is alive: there is nobody to kill"
STOPPED = "stopped: r plays it again"


def victims(image: ClusterImage, plan: DrillPlan) -> tuple[int, ...]:
    """Who dies, as far as they live."""
    racks = {image.brokers[broker].rack for broker in plan.racks_of if broker in image.brokers} - {None, ""}
    named = (broker for broker in image.brokers if rack_name(image, broker) in plan.racks)
    fellows = (broker.id for broker in image.brokers.values() if broker.rack in racks)
    return tuple(sorted({*plan.kill, *plan.racks_of, *named, *fellows} & image.brokers.keys()))


def scenario_of(look: Look) -> Scenario:
    """The plan, for this cluster: who is not there to be stopped or started is left out.

    Where more happens than deaths, who is to come back starts when all of it is over.
    """
    plan, kill, after_ms = look.plan, victims(look.image, look.plan), look.plan.restart_after_ms
    stop = tuple(sorted(set(plan.stop) & look.image.brokers.keys() - set(kill)))
    start = set(plan.start).intersection(look.dead)
    if after_ms is not None and (stop or start):
        start, after_ms = start.union(kill, stop), None
    acts = (Act(Deed.STOP, stop), Act(Deed.START, tuple(sorted(start))))
    then = tuple(act for act in acts if act.brokers)
    return Scenario(kill=kill, unclean=plan.unclean, restart_after_ms=after_ms, then=then)


def _look(plan: DrillPlan, image: ClusterImage, last: Look | None = None, note: str = "") -> Look:
    """`last`: the look before, whose brokers need not be looked for again if the cluster is the same."""
    dead = dead_brokers(image) if last is None or last.is_stale(image) else last.dead
    return Look(plan, image, note=note, dead=dead)


def assumptions_of(look: Look) -> Assumptions:
    """As stated on the screen; what it does not name is as everywhere."""
    times, session_ms = usual(look.image, scenario_of(look)), look.plan.session_timeout_ms
    return times if session_ms is None else msgspec.structs.replace(times, session_timeout_ms=session_ms)


def _so_far(progress: Progress) -> str:
    return f"playing: +{progress.at_ms / 1000:,.1f} s, {progress.rows:,} things happened; {STOPPABLE}"

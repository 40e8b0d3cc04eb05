"""What the operator of a dashboard does to the cluster: proposed, confirmed by what is typed, carried out.

It decides itself what may be done: the other process only draws and types.
"""

import asyncio
import queue
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from model.actions.elections import ELECTION_PATH, elect_preferred
from model.actions.proposal import ActionRefused, Proposal
from model.actions.reassignment import OperatorDecided, RunState
from model.actions.reassignment_run import decide, started
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.hosts.acting.carrying_out import UnansweredError, UnwrittenError, carry_out
from model.hosts.zookeeper.protocol import ZooKeeperError
from model.planning.kraft_course import notes_on_courses
from model.planning.plan import Plan, applied
from tui.engine.jobs import Job, Jobs
from tui.engine.messages import Opening, TextAnswer
from tui.engine.proposing import basis_of, drills_said, proposal_of, rate_of, sheet_of
from tui.engine.queries import ProposalText
from tui.engine.way_in import Way, carried_out, proposed, run_of

WORDS: Mapping[str, OperatorDecided] = {
    "pause": OperatorDecided("pause"),
    "go": OperatorDecided("go"),
    "cancel": OperatorDecided("cancel"),
    "rollback": OperatorDecided("roll-back"),
}
"""What can be said of a reassignment."""


class Pending(msgspec.Struct, frozen=True):
    """What was proposed last. `state`: of a reassignment; `asked`: to be told to the one under way."""

    proposal: Proposal
    state: RunState | None = None
    asked: OperatorDecided | None = None


class ActionService:
    """Used on one event loop; what blocks is done in threads. `image` is the cluster as it is now."""

    def __init__(
        self, opening: Opening, image: Callable[[], ClusterImage], jobs: Jobs, told: Callable[[str], object]
    ) -> None:
        """`told` hears how a reassignment ended, one line."""
        self._told = told
        self._opening = opening
        self._image = image
        self._jobs = jobs
        self._pending: Pending | None = None
        self._asked: queue.SimpleQueue[OperatorDecided | None] = queue.SimpleQueue()
        self._running: asyncio.Task[None] | None = None

    async def propose(self, query: ProposalText, plan: Plan | None) -> TextAnswer:
        """The proposal as a sheet; without lines the title is why there is none."""
        self._pending = None
        try:
            found = await asyncio.to_thread(self._propose, query, plan)
        except (ActionRefused, UnansweredError, ZooKeeperError, ValueError) as error:
            return TextAnswer(str(error))
        if isinstance(found, str):
            return TextAnswer(found)
        self._pending = found
        return sheet_of(found.proposal, query.width)

    async def confirm(self, typed: str) -> str:
        """Carries out what was proposed last, if what was typed is right; the sentence that says what came of it."""
        pending, self._pending = self._pending, None
        if pending is None or not typed:
            return "nothing was done"
        wanted = pending.proposal.type_to_confirm or "yes"
        if typed.strip() != wanted:
            return f"nothing was done: {wanted} was to be typed"
        if pending.asked is not None and self._is_running:
            self._asked.put(pending.asked)
            return f"{pending.proposal.title}: it is told"
        try:
            if pending.state is None:
                return await asyncio.to_thread(self._carry_out, pending.proposal)
            if self._is_running:
                return "nothing was done: a reassignment is under way here already"
        except (ActionRefused, UnansweredError, ZooKeeperError, ValueError) as error:
            return str(error)
        self._running = asyncio.create_task(self._run(pending.state))
        return f"{pending.proposal.title}: begun"

    async def _run(self, state: RunState) -> None:
        if said := await asyncio.to_thread(self._reassign, state):
            self._told(f"{state.run.plan}: {said}")

    async def close(self) -> None:
        """A reassignment under way is left as it is: the journal knows where to go on."""
        self._asked.put(None)
        if self._running is not None:
            await asyncio.wait([self._running], timeout=2)

    @property
    def _is_running(self) -> bool:
        return self._running is not None and not self._running.done()

    # In a thread

    def _propose(self, query: ProposalText, plan: Plan | None) -> Pending | str:
        verb, _, rest = query.words.partition(" ")
        with self._way(may_write=False) as way:
            if query.request is not None:
                proposal = proposal_of(query.request, way, self._opening)
                return Pending(proposal) if proposal.steps else f"{proposal.title}: there is nothing to do"
            if verb == "elect":
                return Pending(self._election(way, rest.split()))
            return self._reassignment(way, rest.strip(), plan)

    def _election(self, way: Way, names: Sequence[str]) -> Proposal:
        wanted = [partition for name in names for partition in _partitions(way.image, name)]
        if not wanted:
            raise ActionRefused("which one? put the cursor on a topic or a partition, or name it")
        return elect_preferred(basis_of(way, [ELECTION_PATH]), wanted)

    def _reassignment(self, way: Way, word: str, plan: Plan | None) -> Pending | str:
        last = way.last_run()
        is_open = last is not None and last.phase != "ended"
        if self._is_running and word in ("pause", "go"):
            self._asked.put(WORDS[word])
            return {"pause": "no new batch begins", "go": "it goes on"}[word]
        if self._is_running and (rate := rate_of(word)):
            self._asked.put(OperatorDecided("throttle", rate))
            return f"the throttle becomes {rate:,} B/s a broker"
        if word in WORDS and last is not None and (is_open or word == "rollback"):
            state, proposal = proposed(decide(last, WORDS[word]).state, way)
            return Pending(proposal, state, WORDS[word])
        if word in WORDS:
            return f"there is nothing to {word}: no reassignment from here is under way"
        if is_open:
            return "a reassignment has not ended: :reassign go, :reassign cancel or :reassign rollback"
        if plan is None or not plan.changes:
            return "there is no plan yet: enter makes one on the plans screen"
        rate = rate_of(word)
        if word and not rate:
            return f"{word!r} is no throttle: write it as 50MB, or pause, go, cancel, rollback"
        begun_ms = time.time_ns() // 1_000_000
        state = started(run_of(plan, way.image, route=way.route, rate=rate or None, begun_ms=begun_ms))
        notes = notes_on_courses(plan.courses, way.image.fenced)
        state, proposal = proposed(state, way, drills_said(way.image, applied(way.image, plan)), notes)
        return Pending(proposal, state)

    def _carry_out(self, proposal: Proposal) -> str:
        with self._way(may_write=True) as way:
            outcome = carry_out(proposal, way.writers, way.audit)
        return f"{proposal.title}: {outcome.kind}{f', {outcome.told}' if outcome.told else ''}"

    def _reassign(self, state: RunState) -> str:
        with self._jobs.job("reassigning:") as job:
            try:
                with self._way(may_write=True) as way:
                    said = carried_out(
                        state, way, lambda decision: job.say(decision.said), _Wishes(self._asked, job)
                    ).said
            except (ActionRefused, UnansweredError, UnwrittenError, ZooKeeperError, ValueError) as error:
                said = str(error)
            except _Left:
                said = ""
        return said

    def _way(self, *, may_write: bool) -> Way:
        return Way(self._opening, self._image(), may_write=may_write)


class _Left(Exception):  # noqa: N818 - it is no error
    """The dashboard ends."""


class _Wishes:
    """What the operator wants meanwhile; esc, which stops jobs, is a pause."""

    def __init__(self, asked: "queue.SimpleQueue[OperatorDecided | None]", job: Job) -> None:
        self._asked = asked
        self._job = job
        self._is_paused = False

    def __call__(self, wait_s: float) -> Iterable[OperatorDecided]:
        if self._job.is_stopped() and not self._is_paused:
            self._is_paused = True
            yield OperatorDecided("pause")
        try:
            asked = self._asked.get(timeout=wait_s) if wait_s else self._asked.get_nowait()
        except queue.Empty:
            return
        if asked is None:
            raise _Left
        yield asked


def _partitions(image: ClusterImage, name: str) -> Iterable[TopicPartition]:
    """All of a topic, or one partition. Raises ActionRefused for a name that is neither."""
    topic = image.topics.get(name)
    if topic is not None:
        return [TopicPartition(name, number) for number in topic.partitions.tolist()]
    of, _, number = name.rpartition("-")
    if of in image.topics and number.isdecimal():
        return [TopicPartition(of, int(number))]
    raise ActionRefused(f"{name!r} is no topic and no partition of this cluster")

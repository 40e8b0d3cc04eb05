"""A reassignment carried out: look, let `reassignment_run` decide, write the journal, act, look again.

The journal keeps the state, so that whoever comes after a crash goes on or brings everything back: one file a
cluster, readable by its owner only, written whole or not at all. It stays when the run has ended, for a rollback,
until the next run replaces it. Who holds the journal may act; nobody else may meanwhile.
"""

import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Protocol, Self

import msgspec

from model.actions import reassignments
from model.actions.proposal import ActionRefused, Found, Proposal, Step
from model.actions.reassignment import (
    Command,
    CommandRefused,
    ObservedCluster,
    OperatorDecided,
    RunState,
    Seen,
    WantedReads,
)
from model.actions.reassignment_run import Decision, decide, wanted
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import visible_json
from model.cluster.whole_file import MOST_FACTS, read_whole
from model.hosts.acting.carrying_out import AuditLog, UnansweredError, UnwrittenError, Writers, carry_out
from model.hosts.acting.zookeeper_writes import ZnodeReading
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.log.checkpoints import fsync_folder
from model.znodes.paths import BROKER_IDS

JOURNAL_FOLDER = "reassignments"


class JournalFile(msgspec.Struct, frozen=True):
    """The file."""

    format: str
    cluster: str
    state: RunState


JOURNAL_FORMAT = "kdrill.reassignment-run/1"


class ReassignmentJournal:
    """Held from `open` to `close`, or to the end of the process, however it ends."""

    def __init__(self, folder: Path, cluster: str) -> None:
        """`cluster` is the cluster's id, or its address where it has none."""
        readable = re.sub(r"\W+", "-", cluster, flags=re.ASCII).strip("-")[-40:]
        name = f"{readable}-{hashlib.sha256(os.fsencode(cluster)).hexdigest()[:12]}"
        self._cluster = cluster
        self.file = folder / JOURNAL_FOLDER / f"{name}.json"
        self._lock_file = self.file.with_suffix(".lock")
        self._lock: int | None = None

    def read(self) -> RunState | None:
        """The last run, None where there was none. Raises ActionRefused for a file that cannot be used."""
        try:
            kept = msgspec.json.decode(read_whole(self.file, MOST_FACTS, only_file=True), type=JournalFile)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise ActionRefused(f"{self.file} cannot be used: {error}; move it away if no reassignment runs") from None
        if (kept.format, kept.cluster) != (JOURNAL_FORMAT, self._cluster):
            raise ActionRefused(f"{self.file} is of another cluster or another kdrill: move it away")
        if not _makes_sense(kept.state):
            raise ActionRefused(f"{self.file} cannot be used: it names batches that are not there; move it away")
        return kept.state

    def open(self) -> Self:
        """Raises ActionRefused while another process holds it."""
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ActionRefused(f"{self._lock_file} cannot be written: {error.strerror or error}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise ActionRefused(
                "another kdrill carries out a reassignment of this cluster: end it there first, then go on here"
            ) from None
        self._lock = lock
        return self

    def write(self, state: RunState) -> None:
        """Before the step is done that it is about. Raises ActionRefused."""
        data = visible_json(msgspec.json.encode(JournalFile(JOURNAL_FORMAT, self._cluster, state)))
        try:
            descriptor, beside = tempfile.mkstemp(prefix=".", suffix=".part", dir=self.file.parent)
            try:
                with open(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(beside, self.file)
                fsync_folder(self.file.parent)
            except OSError:
                os.unlink(beside)
                raise
        except OSError as error:
            raise ActionRefused(f"{self.file} cannot be written: {error.strerror or error}; nothing goes on") from None

    def close(self) -> None:
        """Somebody else may go on."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()


def _makes_sense(state: RunState) -> bool:
    ends = state.run.ends
    rise = all(before < end for before, end in pairwise((0, *ends)))
    return rise and 0 <= state.batch < len(ends) and ends[-1] == len(state.run.moves)


class RouteToCluster(Protocol):
    """Looks at a cluster, and makes steps of commands for it."""

    @property
    def writers(self) -> Writers:
        """Who carries the steps out."""
        ...

    def look(self, wanted: WantedReads) -> ObservedCluster:
        """As it is now. Raises an error with one line where that cannot be told."""
        ...

    def steps_of(self, command: Command, observed: ObservedCluster) -> Sequence[Step]:
        """For the cluster as it was looked at last."""
        ...


class ZooKeeperRoute:
    """`/admin/reassign_partitions` and `/config`; `image` says which release it is."""

    def __init__(self, image: ClusterImage, reading: ZnodeReading, writers: Writers) -> None:
        self._image = image
        self._reading = reading
        self._found: Found = {}
        self.writers = writers

    def look(self, wanted: WantedReads) -> ObservedCluster:
        """Raises ZooKeeperUnavailable, and ActionRefused where a znode cannot be read."""
        self._found = self._reading.znodes(reassignments.paths_to_read(wanted))
        return reassignments.observed_cluster(self._found, self._reading.children(BROKER_IDS), wanted)

    def steps_of(self, command: Command, observed: ObservedCluster) -> Sequence[Step]:
        """Fenced by the versions that were seen."""
        return reassignments.writes_of(command, self._image, self._found)


LOOK_AGAIN_S = 1.0


def reassign(
    state: RunState,
    route: RouteToCluster,
    journal: ReassignmentJournal,
    audit: AuditLog,
    *,
    told: Callable[[Decision], None],
    asked: Callable[[float], Iterable[OperatorDecided]],
) -> Decision:
    """Goes on until it has ended or is stuck; `journal` is open. Raises ActionRefused, UnwrittenError, to be resumed.

    `asked` waits for at most so many seconds, and gives what the operator decided meanwhile. `told` hears of each step.
    """

    def heard(decision: Decision) -> RunState:
        if decision.state is not state:
            journal.write(decision.state)
        told(decision)
        return decision.state

    journal.write(state)
    wait_s = 0.0
    while True:
        for wish in asked(wait_s):
            state = heard(decide(state, wish))
        try:
            observed = route.look(wanted(state))
        except (ZooKeeperUnavailable, UnansweredError) as error:
            told(Decision(state, f"cannot look: {error}"))
            wait_s = LOOK_AGAIN_S
            continue
        decision = decide(state, Seen(observed))
        state = heard(decision)
        if decision.is_stuck or state.phase == "ended":
            return decision
        if decision.command is not None:
            steps = tuple(route.steps_of(decision.command, observed))
            if refusal := _done(Proposal(f"{state.run.plan}: {decision.said}", steps), route, audit):
                state = heard(decide(state, CommandRefused(refusal)))
        wait_s = 0.0 if decision.is_soon else LOOK_AGAIN_S


def _done(proposal: Proposal, route: RouteToCluster, audit: AuditLog) -> str:
    """Why it was not, or may not have been; empty where it was. Raises UnwrittenError."""
    try:
        outcome = carry_out(proposal, route.writers, audit)
    except ActionRefused as refusal:
        return str(refusal)
    if outcome.unwritten:
        raise UnwrittenError(f"{proposal.title}: {outcome.told}; nothing goes on")
    return "" if outcome.kind == "done" else outcome.said or "it was not taken"

"""What deaths leave of a KRaft cluster's voters, and what a drill of such a cluster does not forecast.

Sources: KIP-595 (a majority elects the active controller), KIP-631 (only the active controller elects leaders, fences
brokers and changes ISRs). A node that is voter and broker has one id. Which voter wins an election is a race.
"""

from collections.abc import Collection, Iterator

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import metadata_version
from model.cluster.image_parts import NO_QUORUM_LEADER
from model.cluster.partition_columns import stacked
from model.cluster.texts import counted, listed
from model.cluster.topic_image import NOBODY
from model.drills.rows import AnyRow, QuorumShrank, VoterBooted, VoterFellSilent
from model.drills.setup_znodes import rules_of
from model.hosts.virtual.journal import BrokerBooted, BrokerCrashed, BrokerStopped
from model.hosts.virtual.scheduled_events import TimingAssumptions
from model.kraft_controller.partition_change import NEWEST, knows_levels, levels_of

NOT_FORECAST = (
    "Not forecast on KRaft: the elections, preferred and unclean, that its controller holds every five minutes; and of "
    "brokers that fail at once, who is fenced first."
)
VOTERS_UNKNOWN = f"{NOT_FORECAST} Nor whether a majority of the voters is left: they are not known."
LEVELS_UNKNOWN = (
    f"metadata.version is not known: played by the rules of Kafka {NEWEST[0]}.{NEWEST[1]}, "
    "without eligible leader replicas (ELR)."
)
_NOTHING = "nothing is elected. What the dead led has no leader; no ISR shrinks, so acks=all waits for them"
SESSION_TIMEOUT = "broker.session.timeout.ms"
DEFAULT_SESSION_MS = 9_000.0
"""`broker.session.timeout.ms` where nobody has set it (`KRaftConfigs`, 3.9)."""


class Turnout(msgspec.Struct, frozen=True):
    """The voters of a quorum, those of them that are left, and how many it takes."""

    voters: tuple[int, ...]
    left: tuple[int, ...]
    majority: int
    candidates: tuple[int, ...]
    """Who may be the active controller then: the same if it is left, several where a race decides, or nobody."""
    is_lost: bool
    """Whether too few are left: nothing is elected any more."""


def is_kraft(image: ClusterImage) -> bool:
    """Whether no ZooKeeper is asked who controls."""
    return image.generation == "kraft"


def not_forecast(image: ClusterImage) -> str:
    """What every forecast on a KRaft cluster says first; empty where ZooKeeper's controller rules."""
    if not is_kraft(image):
        return ""
    first = VOTERS_UNKNOWN if turnout_after(image, ()) is None else NOT_FORECAST
    return first if knows_levels(image) else f"{first} {LEVELS_UNKNOWN}"


def rules_text(image: ClusterImage) -> str:
    """Whose rules are played: `rules of Kafka 2.4 and later`, `Kafka 4.4, metadata.version 33 (4.4-IV2), with ELR`."""
    if not is_kraft(image):
        return f"rules of Kafka {rules_of(image).since} and later"
    levels = levels_of(image)
    elr = ", with ELR" if levels.elr else ""
    return f"rules of {rules_since(image)}, metadata.version {metadata_version(levels.metadata_version)}{elr}"


def rules_since(image: ClusterImage) -> str:
    """The release whose rules are played, on KRaft with how it is controlled: `2.4`, `KRaft 4.4`."""
    if not is_kraft(image):
        return rules_of(image).since
    major, minor = levels_of(image).release
    return f"KRaft {major}.{minor}"


def turnout_after(image: ClusterImage, dead: Collection[int], back: Collection[int] = ()) -> Turnout | None:
    """What is left when these nodes are dead, beside those that are missing already and not `back`.

    None: the voters are not known. Where nobody leads and the voters are not known, none is left.
    """
    quorum = image.quorum
    if quorum is None or not is_kraft(image) or (not quorum.voters and quorum.leader != NO_QUORUM_LEADER):
        return None
    returned = set(back) & {each.id for each in quorum.voters}
    left = tuple(sorted((quorum.present | returned) - set(dead)))
    is_lost = len(left) < quorum.majority
    stayed = quorum.leader in left and quorum.leader not in returned
    candidates = () if is_lost else (quorum.leader,) if stayed else left
    return Turnout(tuple(each.id for each in quorum.voters), left, quorum.majority, candidates, is_lost)


def turnout_text(turnout: Turnout) -> str:
    """`1 of 3 voters is left, and it takes 2: …`."""
    if not turnout.voters:
        return f"no controller is active, and who votes is not known: {_NOTHING}"
    verb = "is" if len(turnout.left) == 1 else "are"
    text = f"{len(turnout.left)} of {len(turnout.voters)} voters {verb} left, and it takes {turnout.majority}"
    if turnout.is_lost:
        return f"{text}: {_NOTHING}"
    spare = len(turnout.left) - turnout.majority
    return f"{text}: {f'{spare} more' if spare else 'no other'} may be lost"


def candidates_text(turnout: Turnout) -> str:
    """`3`, `one of 1, 3`, `nobody`."""
    some = turnout.candidates
    return f"one of {listed(some, 20)}" if len(some) > 1 else str(some[0]) if some else "nobody"


def session_timeout_ms(image: ClusterImage, usual: TimingAssumptions) -> float:
    """How long a silent broker counts as alive: what is set on brokers, the longest where they differ.

    With ZooKeeper it is the usual one: sessions are the brokers' own affair there, whatever is set elsewhere.
    """
    if not is_kraft(image):
        return usual.session_timeout_ms
    texts = (config.get(SESSION_TIMEOUT, "").strip() for entity, config in image.configs.items() if _is_broker(entity))
    return max((float(text) for text in texts if text.isdecimal()), default=DEFAULT_SESSION_MS)


def silence_text(image: ClusterImage, timeout: str) -> str:
    """How long a silent broker counts as alive, which is `timeout`, in the words of the cluster's kind."""
    return f"a silent broker is fenced after {timeout}" if is_kraft(image) else f"session timeout {timeout}"


def with_voters(rows: Collection[AnyRow], image: ClusterImage, dead: Collection[int]) -> Iterator[AnyRow]:
    """A drill's rows, and behind each death or shutdown what it means for the quorum, if that loses anybody.

    `dead` die at the beginning, those that are no brokers among them.
    """
    at_first = [row for row in rows if row.at_ms == 0 and _who_died(row) in dead]
    yield from at_first
    quorum = _Quorum(image)
    yield from quorum.loses(0.0, dead)
    for row in rows:
        if any(row is one for one in at_first):
            continue
        yield row
        if isinstance(row, BrokerCrashed | BrokerStopped):
            yield from quorum.loses(row.at_ms, (row.broker,))
        elif isinstance(row, VoterFellSilent):
            yield from quorum.loses(row.at_ms, (row.voter,))
        elif isinstance(row, BrokerBooted):
            quorum.regains(row.broker)
        elif isinstance(row, VoterBooted):
            quorum.regains(row.voter)


def _who_died(row: AnyRow) -> int | None:
    if isinstance(row, VoterFellSilent):
        return row.voter
    return row.broker if isinstance(row, BrokerCrashed) else None


class StillServed(msgspec.Struct, frozen=True):
    """What is still served where nothing is elected: partitions that take any write, those that take acks=0 and 1 and
    can be read, since somebody in the ISR is dead, and those that are not served."""

    whole: int
    without_all: int
    not_served: int


def served(image: ClusterImage) -> StillServed:
    """By the brokers that live in it, while its states stay as they are."""
    columns, alive = stacked(tuple(image.topics.values())), np.array(sorted(image.brokers), np.int32)
    is_led = np.isin(columns.leader, alive)
    all_live = (np.isin(columns.isr, alive) | (columns.isr == NOBODY)).all(axis=1)
    whole, led = int((is_led & all_live).sum()), int(is_led.sum())
    return StillServed(whole, led - whole, len(columns) - led)


def served_text(found: StillServed) -> str:
    """`8 partitions as before, 4 without acks=all, 2 not at all`."""
    as_before = f"{counted(found.whole, 'partition')} as before"
    return f"{as_before}, {found.without_all:,} without acks=all, {found.not_served:,} not at all"


class _Quorum:
    """Who is down so far, and who may be the active controller."""

    def __init__(self, image: ClusterImage) -> None:
        self._image = image
        self._down: set[int] = set()
        self._back: set[int] = set()
        leader = NO_QUORUM_LEADER if image.quorum is None else image.quorum.leader
        self._controllers = () if leader == NO_QUORUM_LEADER else (leader,)

    def loses(self, at_ms: float, nodes: Collection[int]) -> Iterator[QuorumShrank]:
        self._down |= set(nodes)
        self._back -= set(nodes)
        turnout = turnout_after(self._image, self._down, self._back)
        if turnout is None or not (turnout.is_lost or set(turnout.voters) & set(nodes)):
            return
        stays = self._controllers and not turnout.is_lost and not set(self._controllers) & set(nodes)
        candidates = self._controllers if stays else () if turnout.is_lost else turnout.left
        moves = bool(self._controllers) and candidates != self._controllers
        self._controllers = candidates
        unnoticed = tuple(node for node in nodes if node in self._image.brokers) if turnout.is_lost else ()
        yield QuorumShrank(at_ms, unnoticed, turnout_text(turnout), moves, candidates)

    def regains(self, node: int) -> None:
        self._down.discard(node)
        self._back.add(node)


def _is_broker(entity: str) -> bool:
    return entity.startswith(("brokers/", "server.properties/"))

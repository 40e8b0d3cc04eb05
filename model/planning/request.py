"""What an operator wants of a plan, which brokers and partitions that means here, and wishes that make no sense.

A request is a value that travels as JSON. It moves nothing.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from model.cluster.texts import brokers, counted, listed
from model.cluster.topic_image import NOBODY, Flags, Ints
from model.planning.layout import Racks, ReplicaLayout, rack_rule


class PlanError(ValueError):
    """No plan can do what was asked for; the message is one line that says why, and what could."""


Reach = Literal["balance", "forced", "racks", "leaders"]
"""How far a plan goes: balance everything; only the moves that must be; also those that mend racks; no data at all."""

By = Literal["count", "bytes"]
AtLeastOne = Annotated[int, Meta(ge=1)]


class NewBroker(msgspec.Struct, frozen=True):
    """A broker to place replicas on. It need not be alive yet; `rack` None: as it says itself, or none."""

    id: int
    rack: str | None = None


class Batching(msgspec.Struct, frozen=True):
    """What one broker may receive, and send, in one batch. `count` asks for that many batches, however large."""

    replicas: AtLeastOne = 20
    bytes: AtLeastOne | None = None
    count: AtLeastOne | None = None


class Throttling(msgspec.Struct, frozen=True):
    """Bytes/s that a broker may send, and receive, for the plan; or how many seconds the plan may take."""

    rate: int | None = None
    seconds: float | None = None


class PlanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One wish: which brokers leave, come or are swapped, what else may move, and how the plan is to be cut."""

    remove: tuple[int, ...] = ()
    add: tuple[NewBroker, ...] = ()
    replace: tuple[tuple[int, int], ...] = ()
    """(old, new): the new broker gets what the old one has, place by place."""
    replication_factor: int | None = None
    """Of the chosen topics."""
    reach: Reach = "balance"
    by: By = "count"
    """What "fewest moves" counts and what is balanced first."""
    tolerance_percent: float = 0.0
    """How far from the mean a broker may stay, either way."""
    capacity: int | None = None
    """Bytes that no broker may hold more than."""
    topics: tuple[str, ...] = ()
    """Patterns (`orders-*`) of the topics whose partitions may be touched; none: all."""
    exclude: tuple[str, ...] = ()
    batching: Batching = Batching()
    throttling: Throttling = Throttling()

    def chooses(self, topic: str) -> bool:
        """Whether the partitions of a topic may be touched."""
        wanted = not self.topics or any(fnmatchcase(topic, pattern) for pattern in self.topics)
        return wanted and not any(fnmatchcase(topic, pattern) for pattern in self.exclude)


class PlanTarget(msgspec.Struct, frozen=True):
    """Who is there when the plan is done. `racks` are of all brokers of any part; `factor` int32[N] the replicas that
    each partition shall have, `fixed` bool[N] those that stay as they are."""

    staying: tuple[int, ...]
    leaving: frozenset[int]
    coming: tuple[int, ...]
    """Of those that stay, the ones that are not alive yet."""
    dead: frozenset[int]
    """Brokers that hold replicas, are not alive or are cordoned, and are not asked to leave: what they have stays
    theirs."""
    racks: Racks
    factor: Ints
    fixed: Flags

    @property
    def rack_rule(self) -> Racks | None:
        """The racks as plans go by them; None: they cannot."""
        return rack_rule(self.staying, self.racks, int(self.factor[~self.fixed].max(initial=1)))


def setting_of(layout: ReplicaLayout, request: PlanRequest) -> PlanTarget:
    """What the request means here. Raises PlanError."""
    holders = {int(broker) for broker in np.unique(layout.replicas) if broker != NOBODY}
    leaving = frozenset((*request.remove, *(old for old, _ in request.replace)))
    racks = _racks(layout, request)
    _check_brokers(layout, request, holders, leaving)
    staying = tuple(sorted(racks.keys() - leaving - layout.cordoned))
    if not staying:
        raise PlanError("no broker would stay: name one to add")
    dead = frozenset(holders - set(staying) - leaving)
    chosen = _chosen(layout, request)
    factor = _factor(layout, request, chosen)
    setting = PlanTarget(
        staying=staying,
        leaving=leaving,
        coming=tuple(broker for broker in staying if broker not in layout.racks),
        dead=dead,
        racks=racks,
        factor=factor,
        fixed=~chosen | layout.busy | layout.stranded | _held_by_the_dead(layout, dead, leaving, factor),
    )
    _check_room(layout, setting)
    return setting


def on_any(layout: ReplicaLayout, ids: Iterable[int]) -> Flags:
    """bool[N]: whether a replica is on any of these brokers."""
    held = np.isin(layout.replicas, list(ids))
    return np.logical_or.reduce(held, axis=1)


def _racks(layout: ReplicaLayout, request: PlanRequest) -> dict[int, str | None]:
    racks = dict(layout.racks)
    for new in request.add:
        known = racks.get(new.id, layout.fenced.get(new.id))
        if known is not None and new.rack not in (None, known):
            raise PlanError(f"broker {new.id} says it is in rack {known!r}, not {new.rack!r}")
        racks[new.id] = known if new.rack is None else new.rack
    for old, new in request.replace:
        if new not in racks:
            racks[new] = racks.get(old)  # it stands where the old one stood, unless --add-broker says otherwise
    return dict(sorted(racks.items()))


def _check_brokers(layout: ReplicaLayout, request: PlanRequest, holders: set[int], leaving: frozenset[int]) -> None:
    known = layout.racks.keys() | holders
    if unknown := leaving - known:
        there = listed(sorted(known), 20)
        raise PlanError(f"{brokers(unknown)}: neither alive nor holding a replica; there are {there}")
    arriving = [new.id for new in request.add] + [new for _, new in request.replace]
    if cordoned := layout.cordoned.intersection(arriving):
        raise PlanError(f"{brokers(cordoned)}: all log directories are cordoned; uncordon one first")
    if both := leaving & set(arriving):
        raise PlanError(f"{brokers(both)} cannot both leave and come")
    olds, news = [old for old, _ in request.replace], [new for _, new in request.replace]
    if len(set(olds)) < len(olds) or len(set(news)) < len(news) or set(olds) & set(request.remove):
        raise PlanError("a broker is named twice: each leaves once, and takes the place of one other")


def _chosen(layout: ReplicaLayout, request: PlanRequest) -> Flags:
    for pattern in (*request.topics, *request.exclude):
        if not any(PlanRequest(topics=(pattern,)).chooses(topic) for topic in layout.topics):
            close = get_close_matches(pattern, layout.topics, n=1)
            raise PlanError(f"no topic matches {pattern!r}" + (f": did you mean {close[0]!r}?" if close else ""))
    by_topic = np.array([request.chooses(topic) for topic in layout.topics], np.bool_)
    return by_topic[layout.topic] if len(layout) else np.zeros(0, np.bool_)


def _factor(layout: ReplicaLayout, request: PlanRequest, chosen: Flags) -> Ints:
    factor = (layout.replicas != NOBODY).sum(axis=1).astype(np.int32)
    if request.replication_factor is not None:
        factor[chosen & ~layout.busy & ~layout.stranded] = request.replication_factor
    return factor


def _held_by_the_dead(layout: ReplicaLayout, dead: frozenset[int], leaving: frozenset[int], factor: Ints) -> Flags:
    """Partitions that stay because somebody may come back, and that nothing else forces to move."""
    forced = on_any(layout, leaving) | (factor != (layout.replicas != NOBODY).sum(axis=1))
    return on_any(layout, dead) & ~forced


def _check_room(layout: ReplicaLayout, setting: PlanTarget) -> None:
    short = np.flatnonzero(~setting.fixed & (setting.factor > len(setting.staying)))
    if len(short):
        row, stay = int(short[0]), len(setting.staying)
        raise PlanError(
            f"{layout.name(row)} needs {setting.factor[row]} replicas and {counted(stay, 'broker')} would stay: "
            "add brokers, or lower the replication factor"
        )

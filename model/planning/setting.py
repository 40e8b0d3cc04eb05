"""The brokers that a plan has to do with, and the partitions that it may touch; wishes that make no sense. It moves
nothing.
"""

from collections.abc import Iterable
from difflib import get_close_matches

import msgspec
import numpy as np

from model.cluster.topic_image import NOBODY, Flags, Ints
from model.cluster.words import brokers, counted, listed
from model.planning.layout import Layout
from model.planning.rack_rule import Racks, rack_rule
from model.planning.refusal import PlanError
from model.planning.request import PlanRequest


class Setting(msgspec.Struct, frozen=True):
    """Who is there when the plan is done. `racks` are of all brokers of any part; `factor` int32[N] the replicas that
    each partition shall have, `fixed` bool[N] those that stay as they are."""

    staying: tuple[int, ...]
    leaving: frozenset[int]
    coming: tuple[int, ...]
    """Of those that stay, the ones that are not alive yet."""
    dead: frozenset[int]
    """Brokers that hold replicas, are not alive, and are not asked to leave: what they have stays theirs."""
    racks: Racks
    factor: Ints
    fixed: Flags

    @property
    def rack_rule(self) -> Racks | None:
        """The racks as plans go by them; None: they cannot."""
        return rack_rule(self.staying, self.racks, int(self.factor[~self.fixed].max(initial=1)))


def setting_of(layout: Layout, request: PlanRequest) -> Setting:
    """What the request means here. Raises PlanError."""
    holders = {int(broker) for broker in np.unique(layout.replicas) if broker != NOBODY}
    leaving = frozenset((*request.remove, *(old for old, _ in request.replace)))
    racks = _racks(layout, request)
    _check_brokers(layout, request, holders, leaving)
    staying = tuple(sorted(racks.keys() - leaving))
    if not staying:
        raise PlanError("no broker would stay: name one to add")
    dead = frozenset(holders - racks.keys() - leaving)
    chosen = _chosen(layout, request)
    factor = _factor(layout, request, chosen)
    setting = Setting(
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


def on_any(layout: Layout, ids: Iterable[int]) -> Flags:
    """bool[N]: whether a replica is on any of these brokers."""
    held = np.isin(layout.replicas, list(ids))
    return np.logical_or.reduce(held, axis=1)


def _racks(layout: Layout, request: PlanRequest) -> dict[int, str | None]:
    racks = dict(layout.racks)
    for new in request.add:
        known = racks.get(new.id)
        if known is not None and new.rack not in (None, known):
            raise PlanError(f"broker {new.id} says it is in rack {known!r}, not {new.rack!r}")
        racks[new.id] = known if new.rack is None else new.rack
    for old, new in request.replace:
        if new not in racks:
            racks[new] = racks.get(old)  # it stands where the old one stood, unless --add-broker says otherwise
    return dict(sorted(racks.items()))


def _check_brokers(layout: Layout, request: PlanRequest, holders: set[int], leaving: frozenset[int]) -> None:
    known = layout.racks.keys() | holders
    if unknown := leaving - known:
        there = listed(sorted(known), 20)
        raise PlanError(f"{brokers(unknown)}: neither alive nor holding a replica; there are {there}")
    arriving = [new.id for new in request.add] + [new for _, new in request.replace]
    if both := leaving & set(arriving):
        raise PlanError(f"{brokers(both)} cannot both leave and come")
    olds, news = [old for old, _ in request.replace], [new for _, new in request.replace]
    if len(set(olds)) < len(olds) or len(set(news)) < len(news) or set(olds) & set(request.remove):
        raise PlanError("a broker is named twice: each leaves once, and takes the place of one other")


def _chosen(layout: Layout, request: PlanRequest) -> Flags:
    for pattern in (*request.topics, *request.exclude):
        if not any(PlanRequest(topics=(pattern,)).chooses(topic) for topic in layout.topics):
            close = get_close_matches(pattern, layout.topics, n=1)
            raise PlanError(f"no topic matches {pattern!r}" + (f": did you mean {close[0]!r}?" if close else ""))
    by_topic = np.array([request.chooses(topic) for topic in layout.topics], np.bool_)
    return by_topic[layout.topic] if len(layout) else np.zeros(0, np.bool_)


def _factor(layout: Layout, request: PlanRequest, chosen: Flags) -> Ints:
    factor = (layout.replicas != NOBODY).sum(axis=1).astype(np.int32)
    if request.replication_factor is not None:
        factor[chosen & ~layout.busy & ~layout.stranded] = request.replication_factor
    return factor


def _held_by_the_dead(layout: Layout, dead: frozenset[int], leaving: frozenset[int], factor: Ints) -> Flags:
    """Partitions that stay because somebody may come back, and that nothing else forces to move."""
    forced = on_any(layout, leaving) | (factor != (layout.replicas != NOBODY).sum(axis=1))
    return on_any(layout, dead) & ~forced


def _check_room(layout: Layout, setting: Setting) -> None:
    short = np.flatnonzero(~setting.fixed & (setting.factor > len(setting.staying)))
    if len(short):
        row, stay = int(short[0]), len(setting.staying)
        raise PlanError(
            f"{layout.name(row)} needs {setting.factor[row]} replicas and {counted(stay, 'broker')} would stay: "
            "add brokers, or lower the replication factor"
        )

"""From replicas before and after to a whole plan: its cost, balance, batches and time. It chooses no replica."""

from collections.abc import Iterator

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.topic_image import Ints, rows_of, widened
from model.planning.balance import balance_of
from model.planning.batches import Sent, in_batches
from model.planning.cost import cost_of
from model.planning.layout import Layout
from model.planning.notes import notes_on, notes_on_voters
from model.planning.objectives import objectives_of
from model.planning.pace import pace_of
from model.planning.plan import Bound, Change, Plan
from model.planning.request import PlanRequest
from model.planning.setting import Setting
from model.planning.standing import Standing


def composed(
    image: ClusterImage,
    layout: Layout,
    setting: Setting,
    request: PlanRequest,
    after: Ints,
    *,
    bound: Bound | None,
    maker: str,
    sizes: str,
    standing: Standing | None = None,
) -> Plan:
    """The plan that makes `after` int32[N, W] of the layout's replicas."""
    changes, batches = in_batches(list(_changes(layout, after)), request.batching)
    seen = image.provenance
    later = layout.with_replicas(after)
    return Plan(
        source=seen.source,
        cluster_id=image.cluster_id,
        zxid=seen.zxid,
        time_ms=seen.time_ms,
        request=request,
        maker=maker,
        changes=changes,
        cost=cost_of(layout.replicas, after, layout.size),
        bound=bound,
        standing=standing,
        before=balance_of(layout, setting.staying, setting.racks, setting.rack_rule),
        after=balance_of(later, setting.staying, setting.racks, setting.rack_rule),
        batches=batches,
        pace=pace_of(batches, request.throttling),
        sizes=sizes if layout.size is not None else "",
        objectives=() if bound is None else objectives_of(request, layout, setting),
        notes=(*notes_on_voters(image, setting.leaving), *notes_on(layout, setting, later)),
    )


def _changes(layout: Layout, after: Ints) -> Iterator[Sent]:
    """What changes, with whoever sends the copies: the leader, or else the first replica that is alive."""
    width = max(layout.replicas.shape[1], after.shape[1])
    rows = np.flatnonzero((widened(layout.replicas, width) != widened(after, width)).any(axis=1))
    olds, news = rows_of(layout.replicas[rows]), rows_of(after[rows])
    leaders = layout.leader[rows].tolist()
    sizes = [None] * len(rows) if layout.size is None else layout.size[rows].tolist()
    names = layout.names(rows.tolist())
    for name, old, new, leader, size in zip(names, olds, news, leaders, sizes, strict=True):
        alive = [broker for broker in (leader, *old) if broker in layout.racks]
        change = Change(name.topic, name.partition, old, new, size)
        yield Sent(change, alive[0] if alive else None, urgent=not set(old) <= layout.racks.keys())

"""What a plan puts first, second and so on, in sentences for its reader. The solver does it; this only says it."""

from collections.abc import Iterator

from model.planning.layout import Layout
from model.planning.request import PlanRequest
from model.planning.setting import Setting


def objectives_of(request: PlanRequest, layout: Layout, setting: Setting) -> tuple[str, ...]:
    """In the order in which they count."""
    return "; ".join(_hard(request, setting)), *_soft(request, layout)


def _hard(request: PlanRequest, setting: Setting) -> Iterator[str]:
    yield "a broker holds a partition once"
    if setting.leaving or setting.dead:
        yield "nothing new on brokers that leave or are dead"
    rule = setting.rack_rule or {}
    if request.reach in ("balance", "racks") and len({rule.get(broker) for broker in setting.staying}) > 1:
        yield "as many racks as there can be"
    if request.capacity is not None:
        yield f"no broker above {request.capacity:,} bytes"


def _soft(request: PlanRequest, layout: Layout) -> Iterator[str]:
    percent = request.tolerance_percent
    band = f"within {percent:g} % of the mean" if percent else "within one"
    if request.reach == "leaders":
        yield "no data moves: only the order of replicas changes"
    elif request.reach == "balance":
        yield f"replicas even {band}, on the brokers of a rack where racks force it"
    else:
        yield "only what must move" + (", and what puts partitions on more racks" if request.reach == "racks" else "")
    if request.reach != "leaders":
        yield "fewest bytes copied, then fewest replicas" if request.by == "bytes" else "fewest replicas copied"
    if request.reach == "forced":
        yield "as many racks as that allows"
    if request.reach in ("balance", "leaders"):
        yield f"preferred leaders even {band}"
    yield "fewest changes of the preferred leader"
    if request.reach in ("forced", "racks"):
        yield f"replicas, then preferred leaders, even {band} as far as that allows"
    if request.reach != "leaders":
        yield "even topics" if layout.size is None else "even disks, then even topics"

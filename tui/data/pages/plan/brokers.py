"""The brokers of a plan: who leaves, who comes, and what each has before and after."""

from collections.abc import Mapping

from model.cluster.cluster_image import ClusterImage
from model.planning.balance import BrokerShare
from model.planning.plan import Plan
from tui.data.analyses.look import Look
from tui.data.analyses.planned import plan_in
from tui.data.fields import Field, Texts
from tui.data.messages import ListQuery
from tui.data.pages.listing import Listing, place_in
from tui.data.questions import PlanQuestion
from tui.rows import Column, Line, Row, line, span

COLUMNS = (
    Column("id", 5, ">", "id"),
    Column("rack", -6, "<", "rack"),
    Column("fate", 8, "<", "fate"),
    Column("replicas", 13, ">"),
    Column("leaders", 13, ">"),
    Column("GB", 11, ">"),
)
LEAVES, COMES, STAYS = "leaves", "comes", ""


def plan_brokers(look: Look, _query: ListQuery) -> Listing:
    """Every broker that there is, or will be."""
    question = look.question
    assert isinstance(question, PlanQuestion)
    plan = plan_in(look)
    racks = {broker.id: broker.rack or "-" for broker in look.image.brokers.values()}
    racks |= {broker: rack or racks.get(broker, "-") for broker, rack in question.add}
    ids = sorted(racks)
    new = {broker for broker, _ in question.add}
    fates = [LEAVES if broker in question.remove else COMES if broker in new else STAYS for broker in ids]
    before, after = (_shares(plan, side) for side in ("before", "after"))
    if plan is not None:
        before = {**before, **{broker: _share_now(look.image, broker) for broker in question.remove}}
        after = {**after, **{broker: BrokerShare(broker, None, 0, 0, None) for broker in question.remove}}

    def fields() -> dict[str, Field]:
        return {
            "id": Texts(lambda: [str(broker) for broker in ids]),
            "rack": Texts(lambda: [racks[broker] for broker in ids]),
            "fate": Texts(lambda: fates),
        }

    return Listing(
        count=len(ids),
        fields=fields,
        shown=("id", "rack", "fate"),
        row=lambda index: _row(ids[index], racks[ids[index]], fates[index], before, after),
        place=place_in([str(broker) for broker in ids]),
        columns=COLUMNS,
        made_from=(look,),
        nothing="no brokers",
    )


def _shares(plan: Plan | None, side: str) -> Mapping[int, BrokerShare]:
    return {} if plan is None else {share.broker: share for share in getattr(plan, side).brokers}


def _share_now(image: ClusterImage, broker: int) -> BrokerShare:
    """What a broker has that leaves: a plan's balance is that of those who stay."""
    topics = image.topics.values()
    replicas = sum(int((topic.replicas == broker).sum()) for topic in topics)
    leaders = sum(int((topic.replicas[:, :1] == broker).sum()) for topic in topics)
    return BrokerShare(broker, None, replicas, leaders, None)


def _row(broker: int, rack: str, fate: str, before: Mapping[int, BrokerShare], after: Mapping[int, BrokerShare]) -> Row:
    then, now = after.get(broker), before.get(broker)
    style = {LEAVES: "removed", COMES: "added"}.get(fate, "")
    cells = (
        line(span(broker, style)),
        line(rack),
        line(span(fate, style)),
        *(_pair(now, then, field) for field in ("replicas", "leaders", "bytes")),
    )
    return Row(str(broker), cells, mark={LEAVES: "-", COMES: "+"}.get(fate, ""))


def _pair(now: BrokerShare | None, then: BrokerShare | None, field: str) -> Line:
    texts = [_number(share, field) for share in (now, then)]
    if texts == ["-", "-"]:
        return line(span("-", "dim"))
    if texts[0] == texts[1]:
        return line(span(texts[0], "dim"))
    return line(span(f"{texts[0]}>", "dim"), span(texts[1], "changed"))


def _number(share: BrokerShare | None, field: str) -> str:
    value = None if share is None else getattr(share, field)
    if value is None:
        return "-"
    return f"{value / 1e9:,.0f}" if field == "bytes" else f"{value:,}"

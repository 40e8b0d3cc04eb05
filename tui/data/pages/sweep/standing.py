"""What a sweep says as a whole: how many scenarios hurt, which brokers must not die together, how likely loss is."""

from model.cluster.words import counted
from model.drills.voters import not_forecast
from spark_tasks.drills.results import HeatMap, LossChance, Result, ScenarioOutcome
from tui.data.analyses.look import Look
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.ages import clock_text
from tui.data.pages.sheets import Sheet
from tui.data.pages.sweep.heat import thing_of
from tui.data.pages.sweep.scenarios import COUNTS, name_of, worst_first
from tui.data.questions import SweepQuestion
from tui.rows import span

KINDS = {
    "brokers": "every broker",
    "pairs": "every pair of brokers",
    "racks": "every rack",
    "brokers-and-racks": "every broker with every other rack",
    "random": "1,000 random sets of 3 brokers",
}
MOST_SETS = 8


def sweep_text(look: Look, query: TextQuery, *, stale: bool) -> TextAnswer:
    """The box beside the scenarios."""
    sheet = Sheet("Sweep", query.width)
    if first := not_forecast(look.image):
        sheet.say(first, "warn")
    result: Result | None = look.result
    if stale:
        sheet.say("the cluster has changed since: r works it out anew", "warn")
    if look.note:
        sheet.say(look.note)
    if result is None:
        return _asked(sheet, look).answer()
    if result.heat is not None:
        _pair(sheet, result, result.heat, query.key)
    style = "error" if result.hurting else "ok"
    sheet.fact("hurt by", f"{result.hurting:,} of {result.scenarios:,} scenarios", style)
    now = result.before
    sheet.fact("now", f"{now.offline:,} offline, {now.under_min_isr:,} under min ISR, {now.under_replicated:,} under")
    _fatal(sheet, result)
    for chance in result.loss:
        sheet.fact("loss", _chance(chance), "warn" if chance.probability > 0 else "")
    return _asked(sheet, look).answer()


def scenario_text(look: Look, query: TextQuery) -> TextAnswer:
    """The scenario whose name is the key."""
    sheet = Sheet(query.key, query.width)
    result: Result | None = look.result
    one = next((one for one in result.listed if name_of(one) == query.key), None) if result else None
    if one is None:
        return sheet.say(look.note or "this scenario is not listed").answer()
    for field, title, _ in COUNTS:
        sheet.fact(title, f"{getattr(one.counts, field):,}")
    sheet.fact("hurt", counted(one.counts.hurt, "partition"), worst_first(one)[1])
    if one.quorum_lost:
        sheet.fact("quorum", "its majority is lost: nothing is elected any more", "error")
    _leaders(sheet, one)
    return sheet.gap().say("enter plays it on the drill's screen, moment by moment", "dim").answer()


def _leaders(sheet: Sheet, one: ScenarioOutcome) -> None:
    if not one.leaders_by_broker:
        return
    most = max(one.leaders_by_broker.values(), default=1) or 1
    sheet.gap().say("leaders afterwards", "heading")
    for broker, leaders in one.leaders_by_broker.items():
        bar = "#" * (20 * leaders // most)
        sheet.draw(span(f"{f'b{broker}':>6} ", "dim"), span(f"{leaders:>8,} "), span(bar, "info"))


def _fatal(sheet: Sheet, result: Result) -> None:
    if not result.fatal.counts:
        return
    sizes = ", ".join(f"{count:,} of {size}" for size, count in sorted(result.fatal.counts.items()))
    sheet.fact("fatal", f"smallest broker sets that hold all in-sync replicas of a partition: {sizes}")
    for one in result.fatal.sets[:MOST_SETS]:
        sheet.fact(
            "", f"{' '.join(f'b{broker}' for broker in one.kill)}: {counted(one.partitions, 'partition')}", "warn"
        )


def _chance(chance: LossChance) -> str:
    each = f"each broker with {100 * (chance.rate or 0):g}%"
    who = each if chance.failed is None else f"{counted(chance.failed, 'broker')} at once"
    probability = f"{'' if chance.exact else 'about '}{100 * chance.probability:.3g}%"
    return f"{who} for good: {probability}, {chance.expected_partitions:.3g} partitions expected"


def _asked(sheet: Sheet, look: Look) -> Sheet:
    question = look.question
    assert isinstance(question, SweepQuestion)
    sheet.fact("dies", KINDS[question.kind])
    sheet.fact("policy", f"unclean election {'on everywhere' if question.unclean else 'as each topic has it'}")
    if look.engine:
        sheet.fact("engine", f"{look.engine}, {look.seconds:.2f} s")
    if look.spark:
        sheet.fact("Spark", look.spark.removeprefix("Spark "))
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC")


def _pair(sheet: Sheet, result: Result, heat: HeatMap, key: str) -> None:
    """What the cell under the heat map's cursor says: `b1 b4`, or `rack:r1 rack:r2`."""
    things = {thing_of(heat, place): place for place in range(len(heat.labels))}
    row, column = (things.get(thing, -1) for thing in (key.partition("\n")[0], key.partition("\n")[2]))
    if min(row, column) < 0:
        return
    hurt, names = heat.hurt[row][column], " and ".join(heat.labels[place] for place in (row, column))
    style = "warn" if hurt else "ok"
    if heat.by == "rack":
        sheet.fact("cell", f"racks {names}: the worst pair hurts {counted(hurt, 'partition')}", style)
        sheet.say("enter plays the death of both racks, which is worse than that of a pair", "dim").gap()
    elif row == column:
        sheet.fact("cell", f"broker {heat.labels[row]} alone: enter plays its death").gap()
    else:
        sheet.fact("cell", f"brokers {names}: hurt {counted(hurt, 'partition')}", style)
        kill = {int(heat.labels[row]), int(heat.labels[column])}
        found = next((one for one in result.listed if set(one.kill) == kill), None)
        numbers = [f"{getattr(found.counts, field):,} {title}" for field, title, _ in COUNTS] if found else []
        sheet.fact("", ", ".join(numbers) or f"not among the worst {len(result.listed)}").gap()

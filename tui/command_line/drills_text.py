"""A drill over the whole cluster for people to read: the worst scenarios, fatal sets, how probable a loss is."""

from collections.abc import Iterator, Sequence

from model.cluster.cluster_image import ClusterImage
from model.cluster.words import brokers, counted, listed
from model.drills.staging.rules import rules_of
from model.drills.voters import not_forecast
from spark_tasks.drills.results import HeatMap, LossChance, Parameters, Result, ScenarioOutcome
from tui.text import cells, plain

MOST_FATAL = 10
WIDEST_HEAT = 16
HEADS = ("new offline", "new under min", "unclean", "under-replicated", "leaders moved", "most leaders")


def lines(result: Result, image: ClusterImage, parameters: Parameters, engine: str, seconds: float) -> Iterator[str]:
    """All of it, fit to print."""
    unclean = ", unclean elections allowed" if parameters.unclean else ""
    if first := not_forecast(image):
        yield first
    yield plain(f"{image.provenance.source}: what if {_who(result, parameters)} died{unclean}")
    yield f"assumed: rules of Kafka {rules_of(image).since} and later; who is out of sync stays so, nobody comes back"
    yield f"computed {'by ' if engine.startswith('spark') else ''}{engine} in {seconds:,.2f} s"
    yield ""
    now = result.before
    yield (
        f"now                {now.offline:,} offline, {now.under_min_isr:,} under min ISR, "
        f"{now.under_replicated:,} under-replicated, at most {max(result.leaders_before.values(), default=0):,} "
        "leaders on a broker"
    )
    hurt = _HURT_KRAFT if first else _HURT
    yield f"scenarios          {result.scenarios:,}, of which {result.hurting:,} hurt: {hurt}"
    yield from _worst(result)
    yield from _heat(result.heat)
    yield from _fatal(result)
    yield from _loss(result.loss)


_HURT = "partitions go offline, fall below min.insync.replicas, or lose records"
_HURT_KRAFT = f"{_HURT}, or nothing is elected any more"


def _who(result: Result, parameters: Parameters) -> str:
    match parameters.kind:
        case "brokers":
            return f"each of {result.scenarios:,} brokers"
        case "pairs":
            return f"any two brokers ({result.scenarios:,} pairs)"
        case "racks":
            return f"each of {result.scenarios:,} racks"
        case "brokers-and-racks":
            return "each rack and with it any broker of another"
        case "random":
            return f"{result.scenarios:,} random sets of {counted(parameters.size, 'broker')}, seed {parameters.seed},"


def _worst(result: Result) -> Iterator[str]:
    if not result.listed:
        return
    names = [plain(_victims(one)) for one in result.listed]
    width = max(len("who dies"), *map(cells, names))
    yield ""
    yield f"{'who dies':<{width}}  {'  '.join(HEADS)}"
    for one, name in zip(result.listed, names, strict=True):
        counts = one.counts
        numbers = (
            counts.newly_offline, counts.newly_under_min_isr, counts.unclean,
            counts.under_replicated, counts.leaders_moved, one.most_leaders,
        )  # fmt: skip
        row = "  ".join(f"{number:>{len(head)},}" for number, head in zip(numbers, HEADS, strict=True))
        lost = "; QUORUM LOST: nothing is elected" if one.quorum_lost else ""
        yield f"{name}{' ' * (width - cells(name))}  {row} on b{one.most_leaders_on}{lost}"
    if result.scenarios > len(result.listed):
        yield f"… {result.scenarios - len(result.listed):,} more, none worse: --limit lists more"


def _victims(one: ScenarioOutcome) -> str:
    if one.rack is None:
        return brokers(one.kill)
    return f"rack {one.rack}: {brokers(one.kill)}"


def _heat(heat: HeatMap | None) -> Iterator[str]:
    if heat is None or len(heat.labels) > WIDEST_HEAT or not any(map(any, heat.hurt)):
        return
    labels = [plain(label) for label in heat.labels]
    width = max(*map(cells, labels), *(len(f"{count:,}") for row in heat.hurt for count in row))
    what = "brokers" if heat.by == "broker" else "racks, the worst pair of brokers of each two"
    yield ""
    yield f"partitions hurt by pairs of {what}:"
    for label, row in zip(["", *labels], [labels, *heat.hurt], strict=True):
        texts = [text if isinstance(text, str) else f"{text:,}" if text else "·" for text in (label, *row)]
        yield "  ".join(" " * (width - cells(text)) + text for text in texts)


def _fatal(result: Result) -> Iterator[str]:
    fatal = result.fatal
    yield ""
    if not fatal.counts:
        yield "minimal fatal sets none: no partition is led"
        return
    sizes = (f"{count:,} of {size}" for size, count in fatal.counts.items())
    yield f"minimal fatal sets {listed(sizes, 6)}: brokers that hold all in-sync replicas of a partition"
    for one in fatal.sets[:MOST_FATAL]:
        yield f"  {brokers(one.kill)}: {counted(one.partitions, 'partition')}"


def _loss(loss: Sequence[LossChance]) -> Iterator[str]:
    yield ""
    yield "how probable it is that data is lost, if so many brokers die for good at the same time, whichever they are:"
    for one in loss:
        who = (
            f"each broker with a probability of {100 * (one.rate or 0):g} %"
            if one.failed is None
            else counted(one.failed, "broker")
        )
        how = "" if one.exact else ", taking the sets for independent"
        yield (f"  {who}: {100 * one.probability:.3g} %{how}; {one.expected_partitions:.3g} partitions on average")

"""What `kdrill preview` does once its options are read: check names, preview here or on Spark, show.

The result is one object for programs, or text of 80 columns for people. The assignors take a while to load: `preview`
imports this module when it is wanted.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import msgspec

from model.analyses.previews.group_arrays import Staged, previewed, stage
from model.analyses.previews.kernel import FIRST_PARTITIONS, PREVIEWS, waves
from model.analyses.previews.lab import Lab
from model.analyses.previews.result import (
    AssignmentFigures,
    Change,
    EstateCase,
    GroupNames,
    GroupPreview,
    PreviewParameters,
    StrategyPreview,
    Total,
    estate_cases,
    estate_now,
    estate_totals,
    group_document,
    preview_document,
)
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import counted, listed
from model.consumers.assignors.assignment import Explanation, balance, explain
from model.consumers.assignors.group import AssignorError
from model.consumers.assignors.strategies import STRATEGIES
from model.consumers.ownership import no_groups, not_previewed
from spark_tasks.spark_client import Engine
from tui.cli.following import image_of
from tui.cli.output import json_line, more, tell_demo
from tui.cli.waved import Computed, computed
from tui.engine.messages import Opening
from tui.engine.text import cells, cut, plain

WIDTH = 80
MOST_BLOCKS = 12
"""More groups than this are summed up by strategy."""
MOST_ROWS = 20
NAME_CELLS = 22
HEAD = f"  {'':<{NAME_CELLS}}{'partitions':>12}{'idle':>7}{'lag':>15}{'moves':>11}{'at least':>10}"


def group_lines(preview: GroupPreview, names: GroupNames, join: int) -> Iterator[str]:
    """One group: how things are, and what each strategy would make of them."""
    yield from wrapped(_about(names))
    for note in names.notes:
        yield from wrapped(note, "  note: ", "        ")
    yield HEAD
    yield _row("now", preview.now, moves=False)
    for each in preview.strategies:
        yield _row(plain(each.strategy), each.rebalanced, used=each.strategy == names.uses)
    yield from _section(f"if {counted(join, 'consumer')} joined:", _joined(preview.strategies))
    yield from _section("if one consumer failed, at worst:", _died(preview.strategies, names.consumers))
    for each in preview.strategies:
        if each.rebalanced and each.rebalanced.waits:
            waiting = counted(each.rebalanced.waits, "partition")
            yield from wrapped(f"{each.strategy} takes two rebalances: {waiting} wait for the second")


def _about(names: GroupNames) -> str:
    kind = f"{names.kind} group" + (f", {plain(names.state)}" if names.state else "")
    uses = "" if names.uses is None else f", uses {names.uses} now"
    members = counted(len(names.consumers), "consumer")
    if len(names.members) != len(names.consumers):
        members += f" with {counted(len(names.members), 'thread')}"
    lag = "not known" if names.lag is None else f"{names.lag:,}"
    topics, partitions = counted(len(names.topics), "topic"), counted(names.partitions, "partition")
    return f"{plain(names.key)}: {kind}{uses}; {members}, {topics}, {partitions}, lag {lag}"


def _section(title: str, rows: Iterable[str]) -> Iterator[str]:
    rows = list(rows)
    if rows:
        yield title
        yield from rows


def _joined(strategies: Sequence[StrategyPreview]) -> Iterator[str]:
    return (_row(plain(each.strategy), each.joined) for each in strategies if each.joined is not None)


def _died(strategies: Sequence[StrategyPreview], consumers: Sequence[str]) -> Iterator[str]:
    for each in strategies:
        worst = each.worst_leave
        if worst is not None:
            yield _row(plain(each.strategy), worst.figures)
            had = f", which has {counted(worst.handed_on, 'partition')}"
            yield f"    {cut(plain(consumers[worst.consumer]), WIDTH - 4 - cells(had))}{had}"


def _row(name: str, figures: AssignmentFigures | None, *, moves: bool = True, used: bool = False) -> str:
    start = f"{'*' if used else ' '} {name:<{NAME_CELLS}}"
    if figures is None:
        return f"{start}{'refuses this group':>12}"
    shared = _span(figures.partitions_min, figures.partitions_max)
    lag = "" if figures.lag_min is None or figures.lag_max is None else _span(figures.lag_min, figures.lag_max)
    moved = f"{figures.moves:>11,}{figures.moves_lower_bound:>10,}" if moves else ""
    return f"{start}{shared:>12}{figures.idle:>7,}{lag:>15}{moved}".rstrip()


def _span(least: int, most: int) -> str:
    return short(least) if least == most else f"{short(least)}-{short(most)}"


def short(number: int) -> str:
    """At most six characters: `12,345`, `1.2M`."""
    if number < 100_000:
        return f"{number:,}"
    for unit, size in (("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)):
        if number < 1000 * size:
            return f"{number / size:.0f}{unit}" if number >= 100 * size else f"{number / size:.1f}{unit}"
    return f"{number:.0e}"


CHANGED: Mapping[Change, str] = {"rebalanced": "", "leaves": "  a consumer fails", "joins": "  {join}"}
MOST_CASES, MOST_ORPHANING = 12, 4
"""Listed; so many of those in which the only consumer fails, which every strategy is at a loss about."""


def estate_lines(previews: Sequence[GroupPreview], groups: Sequence[GroupNames], join: int) -> Iterator[str]:
    """Many groups, summed up by strategy; and the worst cases."""
    heads = f"{'groups':>7}{'refused':>8}{'idle':>7}{'spread':>7}{'moves':>9}{'at least':>9}{'lag':>8}"
    yield f"  {'':<{NAME_CELLS}}{heads}"
    yield _sum("now", estate_now(previews), moves=False)
    for one in estate_totals(previews):
        for change, total in one.by_change.items():
            if total.groups:
                name = CHANGED[change].format(join="1 joins" if join == 1 else f"{join:,} join") or plain(one.strategy)
                yield _sum(name, total, None if change != "rebalanced" else one.refused)
    yield "spread: most partitions of a member minus fewest, in the least even group;"
    yield "lag: of the member with the most"
    bad = [case for case in estate_cases(previews) if case.needless or case.orphaned]
    orphaning = [case for case in bad if case.orphaned][:MOST_ORPHANING]
    worst = [*orphaning, *(case for case in bad if not case.orphaned)][:MOST_CASES]
    if worst:
        yield ""
        yield "worst cases: partitions left without an owner, or moved needlessly"
        yield f"  {'no owner':>8}{'moves':>7}{'at least':>9}{'idle':>6}{'lag':>8}  group, change and strategy"
    for case in worst:
        lag = "" if case.figures.lag_max is None else short(case.figures.lag_max)
        least = short(case.fewest_moves)
        figures = f"{short(case.orphaned):>8}{short(case.moves):>7}{least:>9}{case.figures.idle:>6,}{lag:>8}"
        yield f"  {figures}  {_case(case, groups, join)}"


def _sum(name: str, total: Total, refused: int | None = None, *, moves: bool = True) -> str:
    lag = "" if total.lag_max is None else short(total.lag_max)
    moved = (short(total.moves), short(total.moves_lower_bound)) if moves else ("", "")
    figures = f"{total.idle:>7,}{short(total.spread):>7}{moved[0]:>9}{moved[1]:>9}{lag:>8}"
    return f"  {name:<{NAME_CELLS}}{total.groups:>7,}{'' if refused is None else f'{refused:,}':>8}{figures}".rstrip()


CASE_CELLS = WIDTH - 42


def _case(case: EstateCase, groups: Sequence[GroupNames], join: int) -> str:
    change = {"rebalanced": "", "leaves": ", 1 fails", "joins": f", {join:,} join{'s' if join == 1 else ''}"}[
        case.change
    ]
    names = groups[case.group]
    strategies = "" if case.is_any(names) else f", {', '.join(case.strategies)}"
    return cut(f"{plain(names.key)}{change}{strategies}", CASE_CELLS)


def explanation_lines(strategy: str, balance: str, rows: Sequence[Explanation], *, everything: bool) -> Iterator[str]:
    """Why partitions go where they go under a strategy: first of all those that move."""
    yield from wrapped(f"{strategy}: {balance}")
    changed = sorted(rows, key=lambda row: row.before == row.member)
    shown = changed if everything else changed[:MOST_ROWS]
    for row in shown:
        stays = row.before == row.member
        goes = f"stays with {row.member}" if stays else f"{row.before or 'nobody'} → {row.member or 'nobody'}"
        yield from wrapped(f"{row.topic}-{row.partition}: {goes}", "  ", "    ")
        yield from wrapped(row.why, "    ", "    ")
    yield from more(len(rows) - len(shown))


def wrapped(text: str, first: str = "", indent: str = "  ") -> Iterator[str]:
    """Plain text in lines of at most WIDTH cells, where no word is longer; the first begins with `first`."""
    line = ""
    for word in plain(text).split(" "):
        if line and cells(first) + cells(line) + 1 + cells(word) > WIDTH:
            yield first + line
            first, line = indent, word
        else:
            line = f"{line} {word}" if line else word
    yield first + line


@dataclass(frozen=True)
class PreviewOptions:
    """What is to be previewed, as the options have it."""

    keys: tuple[str, ...]
    strategies: tuple[str, ...]
    each_leaves: bool
    join: int
    explained: bool
    everything: bool
    is_summed_up: bool

    @property
    def parameters(self) -> PreviewParameters:
        """The same for the analysis."""
        return PreviewParameters(
            tuple(dict.fromkeys(self.strategies)), self.each_leaves, self.join, detail=bool(self.keys)
        )


class PreviewReport:
    """The result, as one object or as lines."""

    def __init__(self, image: ClusterImage, staged: Staged, wish: PreviewOptions, found: Computed) -> None:
        self._image, self._staged, self._wish = image, staged, wish
        self._outcome, self._partial = found.outcome, found.partial
        self._previews: Sequence[GroupPreview] = [one for result in found.results for one in result.groups]

    def document(self) -> dict[str, Any]:
        """The kdrill.preview/1 object; its values are still to be made builtins."""
        where, outcome = self._image.provenance, self._outcome
        asked: dict[str, Any] = msgspec.to_builtins(self._wish.parameters)
        provenance = {
            "source": where.source,
            "zxid": where.zxid,
            "parameters": {name: value for name, value in asked.items() if name not in ("first", "end")},
            "engine": outcome.engine,
            "seconds": round(outcome.seconds, 6),
            **({"partial": self._partial} if self._partial else {}),
        }
        return preview_document(map(self._group_document, self._previews), self._estate(), provenance)

    def _estate(self) -> dict[str, Any]:
        """All groups together; groups and consumers by their names."""
        groups = self._staged.groups
        totals = [
            {
                "strategy": one.strategy,
                "refused": one.refused,
                **{change: _total(total, groups) for change, total in one.by_change.items() if total.groups},
            }
            for one in estate_totals(self._previews)
        ]
        return {"now": _total(estate_now(self._previews), groups), "strategies": totals}

    def _group_document(self, preview: GroupPreview) -> dict[str, Any]:
        document = group_document(preview, self._staged.groups[preview.group])
        lab = Lab(self._staged, preview.group)
        for name, told in document["strategies"].items():
            if told["rebalanced"] is None:
                told["refused"] = _refusal(lab, name)
                continue
            told["differs_from_kafka"] = lab.differs(name)
            if self._wish.explained:
                outcome = lab.outcome(name)
                told["explanation"] = {"balance": balance(outcome), "partitions": explain(outcome)}
        return document

    def lines(self) -> Iterator[str]:
        """Text of at most 80 columns, but for the name of the source."""
        source = plain(self._image.provenance.source)
        if not self._previews:
            others = not_previewed(self._image)
            yield from wrapped(f"{source}: {others}") if others else (f"{source}: {no_groups(self._image)}",)
            return
        if self._wish.is_summed_up or (len(self._previews) > MOST_BLOCKS and not self._wish.everything):
            yield f"{source}: {counted(len(self._previews), 'consumer group')}"
            yield from estate_lines(self._previews, self._staged.groups, self._wish.join)
            yield "--group NAME shows one of them, --all every one, and so does --json"
        else:
            for preview in self._previews:
                yield from self._group_lines(preview)
                yield ""
        if not self._wish.keys and (others := not_previewed(self._image)):
            yield from wrapped(others)
        if self._partial:
            yield self._partial
        yield f"{self._outcome.engine}, {self._outcome.seconds:.3f} s"

    def _group_lines(self, preview: GroupPreview) -> Iterator[str]:
        yield from group_lines(preview, self._staged.groups[preview.group], self._wish.join)
        lab = Lab(self._staged, preview.group)
        for each in preview.strategies:
            if each.rebalanced is None:
                yield from wrapped(f"{each.strategy} refuses: {_refusal(lab, each.strategy)}")
                continue
            differs = lab.differs(each.strategy)
            if differs is not None:
                yield from wrapped(f"{each.strategy}: {differs}")
            if self._wish.explained:
                outcome = lab.outcome(each.strategy)
                yield from explanation_lines(
                    each.strategy, balance(outcome), explain(outcome), everything=self._wish.everything
                )


def _total(total: Total, groups: Sequence[GroupNames]) -> dict[str, Any]:
    return msgspec.to_builtins(total) | {"lag_group": None if total.lag_group < 0 else groups[total.lag_group].key}


def _refusal(lab: Lab, strategy: str) -> str:
    """Why the strategy has no answer for the group."""
    try:
        lab.outcome(strategy)
    except AssignorError as error:
        return str(error)
    raise AssertionError("refused by the kernel, and answered here")


def make(opening: Opening, wish: PreviewOptions, engine: Engine, *, as_json: bool) -> None:
    """Previews and prints. Raises click.ClickException, click.UsageError (unknown names), SourceError."""
    _check_strategies(wish.strategies)
    image = _image(opening)
    _check_keys(image, wish.keys)
    staged = stage(image, dict.fromkeys(wish.keys) or None)
    shown = PreviewReport(image, staged, wish, _computed(staged, wish.parameters, engine))
    if as_json:
        click.echo(json_line(msgspec.to_builtins(shown.document()), opening))
    else:
        tell_demo(opening)
        click.echo("\n".join(shown.lines()))


def _computed(staged: Staged, parameters: PreviewParameters, engine: Engine) -> Computed:
    every = len(staged.groups)
    return computed(
        engine, PREVIEWS, staged.arrays, parameters, lambda most: waves(staged.arrays, parameters, most),
        lambda part: (every if part.end is None else part.end) - part.first, "groups", first=FIRST_PARTITIONS,
    )  # fmt: skip


def _image(opening: Opening) -> ClusterImage:
    image = image_of(opening)
    if opening.bootstrap:
        # Kafka's protocol takes a while to load, and only those who ask brokers need it.
        from tui.cli.following import with_groups  # noqa: PLC0415

        image = with_groups(image, opening)
    return image


def _check_strategies(names: Sequence[str]) -> None:
    for name in names:
        if name not in STRATEGIES:
            close = difflib.get_close_matches(name, STRATEGIES, 3, 0.4)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(STRATEGIES)}"
            raise click.UsageError(f"no strategy {name!r}: {hint}")


def _check_keys(image: ClusterImage, keys: Sequence[str]) -> None:
    known = previewed(image)
    for key in keys:
        if key not in known and (group := image.group(key)) is not None:
            why = "strategies here apply to groups in which each partition has one owner"
            raise click.UsageError(f"{key!r} is a {group.kind} group: {why}")
        if key not in known:
            close = difflib.get_close_matches(key, known, 3, 0.4)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {listed(sorted(known))}"
            raise click.UsageError(f"no group {key!r}: {hint if known else not_previewed(image) or no_groups(image)}")

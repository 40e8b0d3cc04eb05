"""What `kdrill plan` does once its options are known to make sense: plan or score, write, show."""

import sys
from functools import partial

import click
import msgspec

from model.cluster.cluster_image import ClusterImage
from model.planning.document import document_of
from model.planning.optimum.solving import solve
from model.planning.plan import Plan
from model.planning.planner import Solve, plan
from model.planning.refusal import PlanError
from model.planning.request import PlanRequest
from model.planning.scoring import read_moves, score
from model.planning.sizes import Sizes, measured
from spark_tasks.client.once import Engine
from spark_tasks.plans.drill_figures import DrillFigures
from tui.command_line import plan_each, plan_files
from tui.command_line.demo import json_line
from tui.command_line.engine_options import ERASE_LINE
from tui.command_line.plan_drills import drills_of
from tui.command_line.plan_text import lines
from tui.command_line.plan_wish import Options, names_a_goal
from tui.command_line.source_image import image_of
from tui.data.opening import Opening
from tui.text import plain


def make(opening: Opening, request: PlanRequest, options: Options, engine: Engine) -> None:
    """All of it. Raises click.ClickException, click.UsageError where there is no plan, and SourceError."""
    image = image_of(opening)
    sizes = plan_files.sizes_for(opening.source, options["sizes"]) or measured(image)
    if options["each_broker"]:
        plan_each.show(image, sizes, request, engine, opening, as_json=options["as_json"])
        return
    try:
        made = _made(image, request, sizes, options)
    except PlanError as error:
        raise click.UsageError(str(error)) from None
    _write(made, options)
    _show(made, drills_of(image, made), options, opening)


def _made(image: ClusterImage, request: PlanRequest, sizes: Sizes | None, options: Options) -> Plan:
    file = options["score"]
    watched = sys.stderr.isatty()
    solver: Solve = partial(solve, told=_tell) if watched else solve
    try:
        if file is None:
            return plan(image, request, sizes, solver)
        moves = read_moves(plan_files.read(file), str(file))
        return score(image, moves, request, str(file), sizes, solver if names_a_goal(options) else None)
    finally:
        if watched:
            click.echo(ERASE_LINE, nl=False, err=True)


def _tell(progress: str) -> None:
    click.echo(f"{ERASE_LINE}{progress}", nl=False, err=True)


def _show(made: Plan, drills: tuple[DrillFigures, DrillFigures] | None, options: Options, opening: Opening) -> None:
    if options["as_json"]:
        found = None if drills is None else {"before": drills[0], "after": drills[1]}
        document = msgspec.to_builtins(document_of(made, {"drills": found}), str_keys=True)
        click.echo(json_line(document, opening))
        return
    for line in lines(made, drills, everything=options["everything"]):
        click.echo(line)


def _write(made: Plan, options: Options) -> None:
    output, rollback, election = options["output"], options["rollback"], options["election"]
    if not made.changes:
        click.echo("nothing to move" + (": no file is written" if output or rollback or election else ""), err=True)
        return
    is_bare = options["file_format"] == "topicmappr"
    for path in plan_files.write(made, output, rollback, as_batches=options["batch_files"], is_bare=is_bare):
        click.echo(f"{plain(str(path))}: written", err=True)
    if election is not None:
        written = plan_files.write_election(made, election)
        click.echo(f"{plain(str(election))}: " + ("written" if written else "no leader changes: not written"), err=True)

"""`kdrill assign`: what Kafka's partition assignors make of groups that are described on standard input."""

import signal
import sys
from typing import TYPE_CHECKING, Any

import click
import msgspec

from model.cluster.texts import visible_json
from tui.cli.output import json_line, tell

if TYPE_CHECKING:
    from model.consumers.assignors.assignment import AssignedCase, Strategy

FAILED = ("assignment", "moves", "moves_lower_bound", "spread", "differs_from_kafka")
"""What is null in the result of a case that has no assignment."""


@click.command(epilog="Strategies: see kdrill assign --list.")
@click.option("--strategy", "name", metavar="NAME", help="strategy for cases that name none")
@click.option("--as-kafka", is_flag=True, help="reproduce the bugs of Kafka 3.9.1, failures included")
@click.option("--explain", is_flag=True, help="include the balance and why each partition goes where it goes")
@click.option("--list", "only_list", is_flag=True, help="list the strategies and exit")
def assign(name: str | None, as_kafka: bool, explain: bool, only_list: bool) -> None:
    """Preview who gets which partition: cases on standard input, one JSON object per line, answered line by line.

    A case has an id, an assignor, topics with their numbers of partitions, and members with their topics and,
    where they matter, what they owned before and in which generation, instance_id and rack; for the zk strategies
    topics may be a map to streams. A result has the assignment, the moves from what was owned before, the fewest
    moves possible for the same balance, the spread (the most partitions of a member minus the
    fewest), and in differs_from_kafka what Kafka 3.9.1 would do instead because of a bug, and why; null where it does
    the same.

    A case that cannot be answered gets an error as its result; the others are still answered. Exits 0 if every case
    has an assignment, 1 if not.

    \b
    Example: kdrill assign --strategy sticky < cases.jsonl

    \b
    A case: {"assignor":"range","topics":{"t":4},
             "members":{"a":{"topics":["t"]},"b":{"topics":["t"]}}}
    """
    from model.consumers.assignors.group import AssignorError  # noqa: PLC0415 - takes numpy
    from model.consumers.assignors.strategies import STRATEGIES, strategy_named  # noqa: PLC0415

    if only_list:
        for strategy in STRATEGIES.values():
            click.echo(f"{strategy.name:<22}{strategy.what}")
        return
    try:
        fallback = None if name is None else strategy_named(name)
    except AssignorError as error:
        raise click.UsageError(str(error)) from None
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader who goes away ends it, quietly
    if sys.stdin.isatty():
        tell("reading cases from the terminal; ^D ends")
    _answer_all(fallback, as_kafka=as_kafka, explain=explain)


def _answer_all(fallback: "Strategy | None", *, as_kafka: bool, explain: bool) -> None:
    failed: list[tuple[int, str]] = []
    for number, line in enumerate(sys.stdin.buffer, 1):
        if line.strip():
            result = answer(line, fallback, as_kafka=as_kafka, explain=explain)
            if result["error"] is not None:
                failed.append((number, result["error"]))
            if result["differs_from_kafka"] is not None:
                tell(f"line {number}: {result['differs_from_kafka']}")
            click.echo(written(result))
    if failed:
        number, reason = failed[0]
        more = f" (and {len(failed) - 1} more: see the errors in the results)" if len(failed) > 1 else ""
        raise click.ClickException(f"line {number}: {reason}{more}")


def answer(line: bytes, fallback: "Strategy | None", *, as_kafka: bool, explain: bool = False) -> dict[str, Any]:
    from model.consumers.assignors.case import read_case  # noqa: PLC0415
    from model.consumers.assignors.group import AssignorError  # noqa: PLC0415
    from model.consumers.assignors.strategies import assign as assign_case  # noqa: PLC0415
    from model.consumers.assignors.strategies import best_answer, strategy_named  # noqa: PLC0415

    case_id = None
    try:
        document = msgspec.json.decode(line)
        case_id = document.get("id") if isinstance(document, dict) else None
        case = read_case(document)
        if case.assignor is None and fallback is None:
            raise AssignorError("the case names no assignor: add one, or give --strategy")
        strategy = strategy_named(case.assignor) if case.assignor is not None else fallback
        assert strategy is not None
        if as_kafka:
            outcome, differs = assign_case(case, strategy, as_kafka=True), None
        else:
            outcome, differs = best_answer(case, strategy)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        return _failure(case_id, f"this is not JSON: {error}")
    except AssignorError as error:
        return _failure(case_id, str(error))
    result = _result(case_id, outcome, differs)
    if explain:
        result["explanation"] = _explanation(outcome)
    return result


def _result(case_id: Any, outcome: "AssignedCase", differs: str | None) -> dict[str, Any]:
    assignment = outcome.assignment
    return {
        "id": case_id,
        "assignment": outcome.lists(),
        "moves": assignment.moves,
        "moves_lower_bound": assignment.moves_lower_bound(outcome.named.group),
        "spread": assignment.spread,
        "differs_from_kafka": differs,
        "error": None,
    }


def _explanation(outcome: "AssignedCase") -> dict[str, Any]:
    from model.consumers.assignors.assignment import balance, explain  # noqa: PLC0415

    return {"balance": balance(outcome), "partitions": explain(outcome)}


def _failure(case_id: Any, reason: str) -> dict[str, Any]:
    return {"id": case_id, **dict.fromkeys(FAILED), "error": reason}


def written(result: dict[str, Any]) -> str:
    """One line, in ASCII: names may be anything, and the line may be read on a terminal."""
    line = visible_json(msgspec.json.encode(result))
    return line.decode() if line.isascii() else json_line(msgspec.json.decode(line))

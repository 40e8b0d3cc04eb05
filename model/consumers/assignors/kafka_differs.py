"""Where ours is the right answer and Kafka 3.9.1 gives another one: for who has to know what a real group will get."""

from model.consumers.assignors.case import Case
from model.consumers.assignors.group import AssignorError
from model.consumers.assignors.named_group import named_group
from model.consumers.assignors.previous_owners import has_strays
from model.consumers.assignors.strategies import assign
from model.consumers.assignors.strategy import Outcome


def kafka_differs(case: Case, outcome: Outcome) -> str | None:
    """What Kafka does in place of `outcome`, in a sentence; None where it does the same."""
    if not _suspicious(case, outcome):
        return None
    try:
        theirs = assign(case, outcome.strategy, as_kafka=True)
    except AssignorError as error:
        return f"Kafka 3.9.1 has a bug here: {error}"
    ours = {member: set(partitions) for member, partitions in outcome.lists().items()}
    others = [member for member, partitions in theirs.lists().items() if set(partitions) != ours[member]]
    if not others:
        return None
    named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    return f"Kafka 3.9.1 has a bug here and gives other partitions to {named}: --as-kafka shows which"


def _suspicious(case: Case, outcome: Outcome) -> bool:
    """Whether any of the bugs could come into it."""
    group = outcome.named.group
    kind = outcome.strategy.kind
    if kind == "coordinator":
        return outcome.strategy.name == "uniform" and not group.alike and outcome.assignment.moves > 0
    if kind == "client":
        return False
    claims = group.claims
    disputed = not outcome.assignment.before.agreed
    misjudged = disputed and bool((claims.generations != claims.subscription_generations).any())
    different = not group.alike and named_group(case, kind, as_kafka=True).group.alike
    return bool(outcome.named.beyond) or misjudged or different or has_strays(group)

"""How a member of a ZooKeeper group sees its group: others may see it otherwise, which is how its kind goes wrong.

Made of the lines that the member said (`python -m model.hosts.zookeeper_consumer`); other lines are passed over.
"""

from collections.abc import Iterable

import msgspec

from model.consumers.zookeeper_groups import happenings
from model.consumers.zookeeper_groups.happenings import (
    AttemptFailed,
    ClaimConflicted,
    GroupRead,
    Happening,
    OffsetsCommitted,
    PartitionsClaimed,
    RebalanceEnded,
    SessionLost,
)
from tui.data.pages.ages import clock_text
from tui.data.pages.sheets import Sheet

STYLES = {ClaimConflicted: "warn", AttemptFailed: "warn", SessionLost: "error"}


class _When(msgspec.Struct, frozen=True):
    at_ms: int


_SAID = msgspec.json.Decoder(
    happenings.Registered
    | happenings.RebalanceBegan
    | happenings.PartitionsReleased
    | happenings.Left
    | OffsetsCommitted
    | GroupRead
    | PartitionsClaimed
    | ClaimConflicted
    | AttemptFailed
    | RebalanceEnded
    | SessionLost
)
_WHEN = msgspec.json.Decoder(_When)


def is_member_log(lines: Iterable[str]) -> bool:
    """Whether such a member said these lines."""
    return any('"happening"' in line for line in lines)


def tell_member_view(sheet: Sheet, lines: Iterable[str]) -> Sheet:
    """Its view of the group, how often it was in conflict, and what happened to it, the newest first."""
    said = [happened for line in lines if (happened := _happened(line)) is not None]
    view = next((one for _, one in reversed(said) if isinstance(one, GroupRead)), None)
    if view is not None:
        sheet.fact("sees", f"members {', '.join(view.members)}")
        sheet.fact("", ", ".join(f"{topic} ({count})" for topic, count in sorted(view.partitions.items())))
    conflicts = sum(isinstance(one, ClaimConflicted) for _, one in said)
    sheet.fact("conflicts", f"{conflicts:,} claims found another owner", "warn" if conflicts else "ok").gap()
    for at_ms, one in reversed(said):
        if not isinstance(one, OffsetsCommitted):
            sheet.fact(clock_text(at_ms)[:-4], str(one), STYLES.get(type(one), ""))
    return sheet


def _happened(line: str) -> tuple[int, Happening] | None:
    try:
        return _WHEN.decode(line).at_ms, _SAID.decode(line)
    except msgspec.MsgspecError:
        return None

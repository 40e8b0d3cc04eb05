"""What it means for a KRaft quorum that voters are added or removed: its majority, and by whose loss it is lost.

Source: KIP-595 (majorities), KIP-853 (3.9: voters change one by one, where kraft.version is 1).
"""

from collections.abc import Iterator, Mapping

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import listed
from model.drills.scenario import machines_of_rack
from model.drills.voters import Turnout, turnout_after

STATIC = (
    "No voter tells of its directory, so kraft.version is 0: nobody can be added or removed while the quorum runs, "
    "before kafka-features.sh upgrade --feature kraft.version=1 (3.9 and later)."
)


class QuorumChange(msgspec.Struct, frozen=True):
    """Before the change and after it: how many vote, how many it takes, how many of those present may be lost.

    `single`: voters whose loss alone loses the quorum then; `racks`: racks whose loss does, each with its voters.
    """

    voters: tuple[int, int]
    majority: tuple[int, int]
    spare: tuple[int, int]
    single: tuple[int, ...]
    racks: Mapping[str, tuple[int, ...]]
    is_static: bool
    """Whether nobody can be added or removed while the quorum runs."""


def voter_change(before: ClusterImage, after: ClusterImage) -> QuorumChange | None:
    """None where the voters are not known."""
    was, now = turnout_after(before, ()), turnout_after(after, ())
    if was is None or now is None:
        return None
    racks = {rack: voters for rack, voters in _voters_by_rack(after) if _loses(now, voters)}
    quorum = before.quorum
    return QuorumChange(
        voters=(len(was.voters), len(now.voters)),
        majority=(was.majority, now.majority),
        spare=(_spare(was), _spare(now)),
        single=tuple(each for each in now.left if _loses(now, (each,))),
        racks=racks,
        is_static=quorum is not None and not any(each.directory_id for each in quorum.voters),
    )


def _spare(turnout: Turnout) -> int:
    return len(turnout.left) - turnout.majority


def _loses(turnout: Turnout, dead: tuple[int, ...]) -> bool:
    return len(set(turnout.left) - set(dead)) < turnout.majority


def _voters_by_rack(image: ClusterImage) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Voters that are brokers of a rack, or are alone on machines of it."""
    voters = {each.id for each in image.quorum.voters} if image.quorum is not None else set[int]()
    for rack in sorted({broker.rack for broker in image.brokers.values() if broker.rack}):
        members = tuple(sorted(broker.id for broker in image.brokers.values() if broker.rack == rack))
        if found := tuple(sorted(voters & {*members, *machines_of_rack(image, members)})):
            yield rack, found


def change_lines(change: QuorumChange) -> Iterator[str]:
    """`3 → 4, it takes 2 → 3, 1 → 1 may be lost`, and by whose loss the quorum is."""
    voters, majority, spare = (f"{was} → {now}" for was, now in (change.voters, change.majority, change.spare))
    if min(change.spare) < 0:
        spare = " → ".join(str(max(each, 0)) for each in change.spare)
    yield f"voters {voters}, it takes {majority}, {spare} may be lost"
    if change.spare[1] < 0:
        yield "the quorum has no majority then"
    elif change.single:
        yield f"the quorum is lost with any one of {listed(change.single, 20)}"
        if change.racks:
            yield f"and with any one rack of {listed(change.racks, 20)}"
    elif change.racks:
        racks = (f"{rack} ({listed(voters, 20)})" for rack, voters in change.racks.items())
        yield f"no single voter loses the quorum; these racks do: {listed(racks, 20)}"
    else:
        yield "no single voter and no rack loses the quorum"

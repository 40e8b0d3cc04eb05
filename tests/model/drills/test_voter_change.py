"""Voters that are added or removed: what it takes before and after, and by whose loss the quorum is lost then."""

from __future__ import annotations

import msgspec
import pytest

from model.cluster.cluster_image import ClusterImage
from model.cluster.image_parts import Quorum, QuorumReplica
from model.drills.document import document_of
from model.drills.drill import run
from model.drills.scenario import Scenario
from model.drills.voter_change import STATIC, QuorumChange, change_lines
from tests.model.drills.clusters import cluster
from tests.model.drills.test_voters import kraft
from tui.cli.drill import lines


def quorum(*voters: int, directory: str = "d", late: tuple[int, ...] = (), **more: str) -> ClusterImage:
    """Brokers 1 to 5, in racks r1, r2, r0, r1, r2; the first voter leads."""
    some = tuple(
        QuorumReplica(each, 90, 0, 0 if each in late else 9_000_000, directory, (more.get(f"at_{each}", ""),))
        for each in voters
    )
    return msgspec.structs.replace(kraft(voters=voters, leader=voters[0]), quorum=Quorum(voters[0], 7, 90, some))


def changed(image: ClusterImage, add: tuple[int, ...] = (), remove: tuple[int, ...] = ()) -> QuorumChange:
    found = run(image, Scenario(add_voters=add, remove_voters=remove)).voter_change
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("image", "add", "remove", "said"),
    [
        (quorum(1, 2, 3), (4,), (), ["voters 3 → 4, it takes 2 → 3, 1 → 1 may be lost",
                                     "no single voter loses the quorum; these racks do: r1 (1, 4)"]),
        (quorum(1, 2, 3), (4, 5), (), ["voters 3 → 5, it takes 2 → 3, 1 → 2 may be lost",
                                       "no single voter and no rack loses the quorum"]),
        (quorum(1, 2, 3), (), (3,), ["voters 3 → 2, it takes 2 → 2, 1 → 0 may be lost",
                                     "the quorum is lost with any one of 1, 2", "and with any one rack of r1, r2"]),
        (quorum(1, 2, 3, late=(2, 3)), (4,), (), ["voters 3 → 4, it takes 2 → 3, 0 → 0 may be lost",
                                                  "the quorum has no majority then"]),
    ],
)  # fmt: skip
def test_what_it_takes_and_by_whose_loss_it_is_lost(
    image: ClusterImage, add: tuple[int, ...], remove: tuple[int, ...], said: list[str]
) -> None:
    assert list(change_lines(changed(image, add, remove))) == said


def test_controllers_alone_on_machines_of_a_rack_count_as_of_it() -> None:
    """Brokers listen on h1 to h5, of which h1 and h4 are rack r1's."""
    image = quorum(101, 102, 103, at_101="CONTROLLER://h1:9093", at_102="CONTROLLER://h4:9093")
    assert changed(image, add=(104,), remove=(103,)).racks == {"r1": (101, 102)}


def test_where_voters_are_configured_they_cannot_change_and_that_is_said_in_one_line() -> None:
    static = run(quorum(1, 2, 3, directory=""), Scenario(add_voters=(4,)))
    assert STATIC in "\n".join(lines(static))
    assert document_of(static)["voters_changed"]["is_static"] is True
    dynamic = run(quorum(1, 2, 3), Scenario(add_voters=(4,)))
    assert STATIC not in "\n".join(lines(dynamic))
    assert document_of(dynamic)["voters_changed"] == {
        "voters": (3, 4), "majority": (2, 3), "spare": (1, 1), "single": (), "racks": {"r1": (1, 4)},
        "is_static": False,
    }  # fmt: skip


def test_drills_of_the_voters_there_are_say_nothing_of_that() -> None:
    plain = run(quorum(1, 2, 3), Scenario(kill=(1,)))
    assert plain.voter_change is None and "voters_changed" not in document_of(plain)
    assert run(cluster([1, 2]), Scenario(kill=(1,))).voter_change is None

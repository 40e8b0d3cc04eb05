"""Rebalances as they are worked out from what a source sees, image by image."""

import msgspec

from model.cluster.changes import changes_between
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import SHARE, Member
from model.cluster.records import ClusterRecord, GroupDescribed, MemberLeft, PartitionReleased
from model.consumers.ownership import GIVEN_UP_MS, KEPT, NOTHING_MOVED_MS, with_rebalances
from tests.model.cluster.build import NOW_MS, brokers, claims, consumer, image, topic

ORDERS = [TopicPartition("orders", number) for number in range(4)]
CLUSTER = image(*brokers(1), *topic("orders", (1,), partitions=4))


def step(before: ClusterImage, at_ms: int, *records: ClusterRecord) -> ClusterImage:
    """What a feed makes of a batch that arrives `at_ms` after the beginning."""
    return with_rebalances(before, image(*records, base=before, time_ms=NOW_MS + at_ms))


def events(before: ClusterImage, after: ClusterImage) -> list[str]:
    return [change.text for change in changes_between(before, after) if change.kind == "group-rebalanced"]


def released(*partitions: int) -> list[ClusterRecord]:
    return [PartitionReleased(group="g", partition=ORDERS[number]) for number in partitions]


def described(
    state: str,
    *members: str,
    owners: dict[TopicPartition, str] | None = None,
    at: int = 1,
    generation: int | None = None,
) -> ClusterRecord:
    known = {member: Member({"orders": 1}, client_id=member[:2]) for member in members}
    return GroupDescribed(
        group="g",
        state=state,
        protocol_type="consumer",
        coordinator=at,
        generation=generation,
        members=known,
        owners=owners,
    )


def stable(member: str, generation: int | None) -> ClusterRecord:
    """It owns all."""
    return described("Stable", member, owners=dict.fromkeys(ORDERS, member), generation=generation)


def test_a_zookeeper_group_rebalances_until_all_is_owned_again() -> None:
    alone = image(consumer("g", "c1"), *claims("g", "c1-0", 0, 1, 2, 3), base=CLUSTER)
    joined = step(alone, 0, consumer("g", "c2"))
    free = step(joined, 100, *released(0, 1, 2, 3))
    half = step(free, 300, *claims("g", "c1-0", 0, 1))
    whole = step(half, 400, *claims("g", "c2-0", 2, 3))

    assert [one.groups["g"].rebalances[-1].took_ms for one in (joined, free, half, whole)] == [None, None, None, 400]
    (past,) = whole.groups["g"].rebalances
    assert (past.at_ms, past.why, past.moved) == (NOW_MS, ("c2 joined",), 2)
    assert (past.gained, past.lost) == ({"c2-0": (ORDERS[2], ORDERS[3])}, {"c1-0": (ORDERS[2], ORDERS[3])})
    assert events(half, whole) == ["rebalanced: c2 joined, 0.4 s, 2 partitions moved"]
    assert step(whole, 500, consumer("other", "c9")).groups["g"] is whole.groups["g"]


def test_who_dies_loses_what_others_take() -> None:
    both = image(
        consumer("g", "c1"), consumer("g", "c2"), *claims("g", "c1-0", 0, 1), *claims("g", "c2-0", 2, 3), base=CLUSTER
    )
    dead = step(both, 0, MemberLeft(group="g", member="c2"), *released(2, 3))
    whole = step(dead, 2_000, *claims("g", "c1-0", 2, 3))

    assert events(both, dead) == []
    assert events(dead, whole) == ["rebalanced: c2 left, 2.0 s, 2 partitions moved"]


def test_a_member_that_gets_nothing_ends_the_rebalance_all_the_same() -> None:
    alone = image(consumer("g", "c1"), *claims("g", "c1-0", 0, 1, 2, 3), base=CLUSTER)
    joined = step(alone, 0, consumer("g", "c2"))
    later = step(joined, NOTHING_MOVED_MS, consumer("other", "c9"))

    assert events(joined, later) == ["rebalanced: c2 joined, 10.0 s, nothing moved"]


def test_a_rebalance_that_left_partitions_without_an_owner_is_given_up_in_the_end() -> None:
    alone = image(consumer("g", "c1"), *claims("g", "c1-0", 0, 1, 2, 3), base=CLUSTER)
    free = step(alone, 0, *released(2, 3))
    still = step(free, GIVEN_UP_MS - 1, consumer("other", "c9"))
    half = step(still, GIVEN_UP_MS, *claims("g", "c1-0", 2))
    given_up = step(half, GIVEN_UP_MS + 1, consumer("other", "c8"))

    assert [one.groups["g"].rebalances[-1].took_ms for one in (free, still, half)] == [None, None, None]
    assert [past.took_ms for past in given_up.groups["g"].rebalances] == [GIVEN_UP_MS + 1]


def test_a_classic_group_says_when_it_rebalances() -> None:
    shared = {ORDERS[0]: "c1-a", ORDERS[1]: "c1-a", ORDERS[2]: "c2-b", ORDERS[3]: "c2-b"}
    stable = image(described("Stable", "c1-a", "c2-b", owners=shared), base=CLUSTER)
    begun = step(stable, 0, described("PreparingRebalance", "c1-a"))
    over = step(begun, 1_100, described("Stable", "c1-a", owners=dict.fromkeys(ORDERS, "c1-a")))

    assert begun.classic_groups["g"].owners == dict.fromkeys(ORDERS[:2], "c1-a")
    assert begun.classic_groups["g"].rebalances[-1].took_ms is None
    assert events(begun, over) == ["rebalanced: c2 left, 1.1 s, 2 partitions moved"]


def test_what_comes_and_goes_between_two_looks_took_no_time() -> None:
    stable = image(described("Stable", "c1-a", owners=dict.fromkeys(ORDERS, "c1-a")), base=CLUSTER)
    replaced = step(stable, 1_000, described("Stable", "c3-c", owners=dict.fromkeys(ORDERS, "c3-c")))

    assert events(stable, replaced) == ["rebalanced: c1 left, c3 joined, 4 partitions moved"]


def test_a_generation_tells_what_a_rebalance_led_to_and_how_many_there_were() -> None:
    one = image(stable("c1-a", 4), base=CLUSTER)
    begun = step(one, 0, described("PreparingRebalance", "c1-a"))
    over = step(begun, 1_000, stable("c1-a", 5))
    three = step(over, 2_000, stable("c2-b", 8))
    unseen = step(three, 3_000, stable("c2-b", 9))

    assert (begun.classic_groups["g"].generation, begun.classic_groups["g"].rebalances[-1].generation) == (4, None)
    assert events(begun, over) == ["rebalanced: generation 5, 1.0 s, nothing moved"]
    assert events(over, three) == ["rebalanced: generations 6 to 8, c1 left, c2 joined, 4 partitions moved"]
    assert events(three, unseen) == ["rebalanced: generation 9, nothing moved"]


def test_a_generation_that_is_learnt_late_is_that_of_the_last_rebalance() -> None:
    one = image(stable("c1-a", 4), base=CLUSTER)
    early = step(one, 0, stable("c2-b", 5))
    moved = step(early, 1_000, stable("c3-c", None))
    late = step(moved, 2_000, stable("c3-c", 7))

    assert moved.classic_groups["g"].generation is None
    last, known = moved.classic_groups["g"].rebalances[-1], late.classic_groups["g"].rebalances[-1]
    assert (last.generation, last.generations) == (None, 1)
    assert known == msgspec.structs.replace(last, generation=7, generations=2)
    assert len(late.classic_groups["g"].rebalances) == 2


def test_a_group_that_began_anew_counts_from_there() -> None:
    seen = step(image(stable("c1-a", 40), base=CLUSTER), 0, stable("c1-a", 1))
    assert [(past.generation, past.generations) for past in seen.classic_groups["g"].rebalances] == [(1, 1)]


def test_a_static_member_that_comes_back_under_a_new_id_is_no_rebalance() -> None:
    back = step(image(stable("c1-a", 4), base=CLUSTER), 0, stable("c1-b", 4))
    assert back.classic_groups["g"].rebalances == ()


def test_another_coordinator_is_a_cause_and_no_rebalance() -> None:
    stable = image(described("Stable", "c1-a", owners=dict.fromkeys(ORDERS, "c1-a")), base=CLUSTER)
    moved = step(stable, 0, described("Stable", "c1-a", owners=dict.fromkeys(ORDERS, "c1-a"), at=2))
    both = step(stable, 0, described("PreparingRebalance", "c1-a", at=2))

    assert moved.classic_groups["g"].rebalances == ()
    assert both.classic_groups["g"].rebalances[-1].why == ("coordinator b1 -> b2",)


def test_the_past_is_bounded_and_what_was_first_seen_is_none() -> None:
    seen = with_rebalances(CLUSTER, image(consumer("g", "c1"), *claims("g", "c1-0", 0, 1, 2, 3), base=CLUSTER))
    assert seen.groups["g"].rebalances == ()
    for turn in range(KEPT + 3):
        owner = f"c{turn % 2 + 1}"
        seen = step(seen, turn, consumer("g", owner), *claims("g", f"{owner}-0", 0, 1, 2, 3))
        seen = step(seen, turn, *claims("g", "c1-0", 0))
    assert len(seen.groups["g"].rebalances) == KEPT


def test_an_image_that_is_not_whole_tells_of_no_rebalance() -> None:
    partial = msgspec.structs.replace(CLUSTER, provenance=msgspec.structs.replace(CLUSTER.provenance, complete=False))
    after = image(consumer("g", "c1"), base=partial)
    assert with_rebalances(partial, after) is after


def shared(epoch: int, **readers: tuple[int, tuple[int, ...]]) -> ClusterRecord:
    """A share group: member → the epoch it has reached, and what it reads."""
    members = {
        name: Member({"orders": 1}, reads=tuple(ORDERS[number] for number in numbers), epoch=reached)
        for name, (reached, numbers) in readers.items()
    }
    return GroupDescribed(
        group="g", state="Stable", kind=SHARE, protocol_type=SHARE, coordinator=1, generation=epoch, members=members
    )


def test_a_share_group_is_stable_all_the_while_and_its_members_epochs_tell() -> None:
    two = image(shared(3, a=(3, (0, 2)), b=(3, (1, 3))), base=CLUSTER)
    left = step(two, 0, shared(4, a=(3, (0, 2))))
    whole = step(left, 4_000, shared(4, a=(4, (0, 1, 2, 3))))
    assert [one.classic_groups["g"].is_rebalancing for one in (two, left, whole)] == [False, True, False]
    assert events(two, left) == []
    assert events(left, whole) == ["rebalanced: generation 4, b left, 4.0 s, 2 partitions moved"]
    (past,) = whole.classic_groups["g"].rebalances
    assert (past.lost, past.gained) == ({"b": (ORDERS[1], ORDERS[3])}, {"a": (ORDERS[1], ORDERS[3])})


def test_a_partition_that_several_read_moves_for_one_of_them_alone() -> None:
    both = image(shared(3, a=(3, (0,)), b=(3, (0,))), base=CLUSTER)
    left = step(both, 0, shared(4, a=(4, (0,))))
    assert events(both, left) == ["rebalanced: generation 4, b left, 1 partition moved"]
    assert left.classic_groups["g"].rebalances[-1].lost == {"b": (ORDERS[0],)}


def test_a_group_that_reconciles_is_over_once_it_is_stable() -> None:
    before = image(stable("c1", 1), base=CLUSTER)
    begun = step(before, 0, described("Reconciling", "c1", "c2", owners=dict.fromkeys(ORDERS[:2], "c1"), generation=2))
    owners = {**dict.fromkeys(ORDERS[:2], "c1"), **dict.fromkeys(ORDERS[2:], "c2")}
    over = step(begun, 700, described("Stable", "c1", "c2", owners=owners, generation=2))
    assert (events(before, begun), events(begun, over)) == (
        [],
        ["rebalanced: generation 2, c2 joined, 0.7 s, 2 partitions moved"],
    )

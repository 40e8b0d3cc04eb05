"""Who is held back while replicas move: the cases of Kafka's ReassignPartitionsUnitTest."""

from __future__ import annotations

from model.actions.reassignment import BROKER_KEYS, FOLLOWER_REPLICAS, LEADER_REPLICAS, Copying, throttle_of

COPIED = [
    Copying("foo", 0, (1, 2, 3), (5,)),
    Copying("foo", 1, (4, 5, 6), (7, 8)),
    Copying("foo", 2, (1, 2), (3, 4)),
    Copying("foo", 3, (1, 2), (5, 6)),
    Copying("foo", 4, (1, 2), (3,)),
    Copying("foo", 5, (1, 2), (3, 4, 5, 6)),
    Copying("bar", 0, (2, 3, 4), (1,)),
]


def test_leaders_followers_and_brokers() -> None:
    assert throttle_of(reversed(COPIED), 1_000) == {
        "topics/foo": {
            LEADER_REPLICAS: "0:1,0:2,0:3,1:4,1:5,1:6,2:1,2:2,3:1,3:2,4:1,4:2,5:1,5:2",
            FOLLOWER_REPLICAS: "0:5,1:7,1:8,2:3,2:4,3:5,3:6,4:3,5:3,5:4,5:5,5:6",
        },
        "topics/bar": {LEADER_REPLICAS: "0:2,0:3,0:4", FOLLOWER_REPLICAS: "0:1"},
        **{f"brokers/{broker}": dict.fromkeys(BROKER_KEYS, "1000") for broker in range(1, 9)},
    }


def test_where_nothing_is_copied_nobody_is_held_back() -> None:
    assert throttle_of([Copying("foo", 0, (1, 2), ())], 1_000) == {}

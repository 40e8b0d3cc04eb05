"""Random cases of `kdrill assign`, to compare with Kafka's own classes: small groups, every twist that there may be."""

from __future__ import annotations

from random import Random
from typing import Any

Case = dict[str, Any]
RACKS = ["r1", "r2", "r3", "r4"]
CLIENTS = ("range", "roundrobin", "sticky", "cooperative-sticky")
COORDINATORS = ("uniform", "server-range")


def random_case(dice: Random, assignor: str) -> Case:
    """A group of up to a dozen members; most are as a rebalance finds them, some are as nobody would expect."""
    topics = {name: dice.choice([1, 2, 3, dice.randint(1, 12), dice.randint(1, 30)]) for name in _names(dice, "t")}
    server = assignor in COORDINATORS
    lists = _subscriptions(dice, list(topics), dice.choice(["equal", "equal", "mixed", "halves", "odd"]))
    if server:
        lists = [list(dict.fromkeys(named)) for named in lists]
    members: dict[str, Any] = {name: {"topics": lists[i % len(lists)]} for i, name in enumerate(_names(dice, "c", 12))}
    case = {"assignor": assignor, "topics": topics, "members": members}
    if dice.random() < 0.3:
        for name, member in members.items():
            if dice.random() < 0.6:
                member["instance_id"] = f"i{dice.randint(0, 99)}-{name}"
    if dice.random() < 0.75:
        _own(dice, topics, members, once=server)
        if dice.random() < 0.15:
            _own_what_is_not_there(dice, topics, members)
    if not server:
        if dice.random() < 0.1:
            members[dice.choice(list(members))]["topics"] = [*lists[0], "not-there"]
        if dice.random() < 0.4:
            _rack(dice, case)
    return case


def _names(dice: Random, start: str, most: int = 8) -> list[str]:
    style = dice.choice(["plain", "padded", "long", "odd"])
    count = dice.randint(1, most)
    return {
        "plain": lambda: [f"{start}{n}" for n in range(count)],
        "padded": lambda: [f"{start}-{n:03}" for n in range(count)],
        "long": lambda: [f"{start}-{dice.getrandbits(64):016x}" for n in range(count)],
        "odd": lambda: [f"{dice.choice(['ä', '𝄞', 'Ω', '￿', 'z'])}{start}{n}" for n in range(count)],
    }[style]()


def _subscriptions(dice: Random, topics: list[str], form: str) -> list[list[str]]:
    if form == "equal":
        return [topics]
    if form == "halves":
        half = len(topics) // 2
        return [topics[:half] or topics, topics[half:], topics[half:]]
    lists = [dice.sample(topics, dice.randint(1, len(topics))) for _ in range(12)]
    if form == "odd":
        lists[dice.randrange(4)] = []
        lists[dice.randrange(4)] = [topics[0], topics[0]]
    return lists


def _own(dice: Random, topics: dict[str, int], members: dict[str, Any], *, once: bool) -> None:
    """Ownership of before: balanced or not, by members that may have gone, of topics that may be given up."""
    lazy = dice.choice([0.0, 0.1, 0.5])
    owners = [name for name in members if dice.random() > 0.2] + ["gone"] * dice.choice([0, 0, 1])
    if not owners:
        return
    weights = [dice.choice([1, 1, 1, 6]) for _ in owners]
    claims: dict[str, list[list[Any]]] = {}
    faithful = dice.random() < 0.7
    for topic, count in topics.items():
        users = [name for name in owners if name == "gone" or topic in members[name]["topics"]] if faithful else owners
        for number in range(count if users else 0):
            if dice.random() >= lazy:
                at = [weights[owners.index(name)] for name in users]
                claims.setdefault(dice.choices(users, at)[0], []).append([topic, number])
    claims.pop("gone", None)
    disputed = 0.0 if once else dice.choice([0.0, 0.0, 0.1, 0.5])
    generations = dice.choice([[5], [5], [5, 5, 4], [5, 4, 3]])
    for name, member in members.items():
        owned = claims.get(name, [])
        if not once:
            everything = [[topic, number] for topic, count in topics.items() for number in range(count)]
            owned = owned + [p for p in everything if p not in owned and dice.random() < disputed * 0.3]
            if owned or dice.random() < 0.5:
                member["generation"] = dice.choice(generations)
                if dice.random() < 0.05:
                    member["user_data"] = dice.choice(["v0", "none"])
                if dice.random() < 0.05:
                    member["subscription_generation"] = -1
        dice.shuffle(owned)
        member["owned"] = owned


def _own_what_is_not_there(dice: Random, topics: dict[str, int], members: dict[str, Any]) -> None:
    """As after a topic was deleted and made again with fewer partitions; nothing is claimed twice."""
    missing = [[topic, count + n] for topic, count in topics.items() for n in range(dice.choice([1, 3]))]
    for claim in dice.sample(missing, dice.randint(1, min(3, len(missing)))):
        member = members[dice.choice(list(members))]
        owned = member.setdefault("owned", [])
        owned.insert(dice.randint(0, len(owned)), claim)


def _rack(dice: Random, case: Case) -> None:
    racks = RACKS[: dice.randint(1, 4)]
    for member in case["members"].values():
        if dice.random() < 0.8:
            member["rack"] = dice.choice([*racks, *racks, "r9", ""])
    replicas = dice.randint(1, len(racks))
    case["racks"] = {
        topic: [dice.sample([*racks, None], replicas) for _ in range(count)]
        for topic, count in case["topics"].items()
        if dice.random() < 0.95
    }

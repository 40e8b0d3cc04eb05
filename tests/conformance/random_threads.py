"""Random groups of ZooKeeper consumers, as cases of `kdrill assign` and as the znodes that Kafka's classes read."""

from __future__ import annotations

import json
from random import Random
from typing import Any

Case = dict[str, Any]
GROUP = "g"


def random_threads(dice: Random, assignor: str) -> Case:
    """Consumers with static subscriptions, white lists or black lists; most groups are alike enough for round-robin."""
    topics = {f"{dice.choice('abc')}.t{number}": dice.randint(1, 14) for number in range(dice.randint(1, 5))}
    alike = dice.random() < 0.6
    wanted = {topic: dice.randint(1, 3) for topic in topics}
    members: dict[str, Any] = {}
    for number in range(dice.randint(1, 12)):
        name = f"{GROUP}_host{number}-{dice.randint(0, 9)}-{dice.getrandbits(32):08x}"
        streams = dice.choice([1, 2, 11])
        if alike:
            members[name] = {"topics": dict.fromkeys(topics, streams)}
        elif dice.random() < 0.2:
            members[name] = {
                dice.choice(["white_list", "black_list"]): f"{dice.choice('abc')}.*, x",
                "threads": streams,
            }
        else:
            members[name] = {"topics": dict(dice.sample([*wanted.items(), ("none", 1)], dice.randint(1, len(wanted))))}
    return {"assignor": assignor, "topics": topics, "members": members}


def znodes(case: Case) -> str:
    """The question for ZooKeeperAssignors: strategy, group, consumers, znodes."""
    strategy = case["assignor"].removeprefix("zk-").removesuffix("-1.0")
    nodes = ["/brokers/ids/0={}"]
    for topic, count in case["topics"].items():
        partitions = {str(number): [0] for number in range(count)}
        nodes.append(f"/brokers/topics/{topic}={json.dumps({'version': 1, 'partitions': partitions})}")
    for name, member in case["members"].items():
        pattern = next((key for key in ("white_list", "black_list") if key in member), "static")
        streams = member["topics"] if pattern == "static" else {member[pattern]: member["threads"]}
        told = {"version": 1, "subscription": streams, "pattern": pattern, "timestamp": "1"}
        nodes.append(f"/consumers/{GROUP}/ids/{name}={json.dumps(told)}")
    return "\t".join([strategy, GROUP, ",".join(case["members"]), *nodes])

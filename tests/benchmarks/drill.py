"""What one broker's death costs in a cluster of 200,000 partitions and 100 brokers, from the image to the result.

There is no rival: no other program plays the controller's rules on a copy. The goal is 2 s, for a broker that is not
the controller; the controller's death, where a new one reads and tells everything, is measured beside it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from model.cluster.cluster_image import BrokerImage, ClusterImage, ControllerImage, Provenance
from model.cluster.topic_image import TopicImage, untold
from model.drills.drill import PlayedDrill, run
from model.drills.scenario import of_brokers
from tests.benchmarks.figure import Figure

BROKERS, TOPICS, PARTITIONS, REPLICAS = 100, 2_000, 100, 3
CONTROLLER, OTHER = 1, 7
GOAL_S = 2.0
ROUNDS = 3


def measure(folder: Path) -> Iterator[Figure]:
    """The best of three runs each, on a fresh image; the result includes every partition's outcome and the summary."""
    size = f"{TOPICS * PARTITIONS:,} partitions, {BROKERS} brokers"
    for broker, who in ((OTHER, "a broker's"), (CONTROLLER, "the controller's")):
        seconds, cpu_s, drill = min((_timed(cluster(), broker) for _ in range(ROUNDS)), key=lambda result: result[0])
        goal = f"goal {GOAL_S:g} s, " if broker == OTHER else ""
        moved = f"{drill.summary.leaders_moved:,} leaders moved, {len(drill.affected):,} partitions affected"
        note = f"{goal}{cpu_s:.2f} s of CPU; {moved}, {len(drill.timeline.rows):,} rows"
        yield Figure(f"{who} death, {size}", seconds, note=note)


def cluster() -> ClusterImage:
    """A healthy cluster, leaders and replicas spread at random; the same every time."""
    dice = np.random.default_rng(1)
    topics = [_topic(f"topic-{number:05}", dice) for number in range(TOPICS)]
    return ClusterImage(
        provenance=Provenance("synthetic", 2 * 10**9, 1_700_000_000_000, complete=True),
        generation="3.x",
        controller=ControllerImage(CONTROLLER, 7, 1),
        brokers={
            number: BrokerImage(number, (f"PLAINTEXT://broker-{number}:9092",), f"r{number % 3}", 10**8 + number, 1)
            for number in range(1, BROKERS + 1)
        },
        topics={topic.name: topic for topic in topics},
    )


def _topic(name: str, dice: np.random.Generator) -> TopicImage:
    first = dice.integers(0, BROKERS, PARTITIONS)
    shift = dice.integers(1, BROKERS // REPLICAS, PARTITIONS)
    replicas = np.stack([(first + place * shift) % BROKERS + 1 for place in range(REPLICAS)], 1).astype(np.int32)
    return TopicImage(
        name=name,
        partitions=np.arange(PARTITIONS, dtype=np.int32),
        replicas=replicas,
        leader=replicas[:, 0].copy(),
        isr=replicas.copy(),
        leader_epoch=dice.integers(0, 50, PARTITIONS).astype(np.int32),
        controller_epoch=np.full(PARTITIONS, 7, np.int32),
        version=dice.integers(0, 50, PARTITIONS).astype(np.int32),
        recovering=np.zeros(PARTITIONS, np.bool_),
        zxid=np.full(PARTITIONS, 10**9, np.int64),
        time_ms=np.full(PARTITIONS, 1_699_999_000_000, np.int64),
        elr=untold(PARTITIONS),
        last_known_elr=untold(PARTITIONS),
        directories=untold(PARTITIONS),
        topic_id="A" * 22,
    )


def _timed(image: ClusterImage, broker: int) -> tuple[float, float, PlayedDrill]:
    began, cpu_began_s = time.perf_counter(), time.process_time()
    drill = run(image, of_brokers([broker]))
    assert drill.summary.after.offline == 0
    return time.perf_counter() - began, time.process_time() - cpu_began_s, drill

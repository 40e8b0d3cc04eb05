"""A cluster's partitions as arrays of numbers, for analyses. It judges nothing; names stay behind, by number.

Brokers are positions in `brokers`, so that whatever counts by broker is an array, too; -1 is nobody, and pads rows.
Topics that are being deleted are left out: nobody is elected for them, and nobody counts them.

| array | shape | what it says |
|---|---|---|
| `brokers` | int64[B] | ids, ascending: brokers that are registered, or that a partition names |
| `live` | bool[B] | whether it is registered |
| `rack` | int32[B] | its rack, a place in `racks_of` |
| `controller` | int32[1] | the active one, if it lives; B on KRaft, whose voters take over from each other |
| `voter` | bool[B] | whether it is a voter of a KRaft quorum that can be counted on |
| `spare` | int32[1] | how many of the voters may be lost; below 0 too many are; `MANY` where it does not matter |
| `rules` | int32[1] | the row of `GENERATIONS` that the cluster's controllers go by |
| `levels` | int32[4] | on KRaft instead: its `Levels`, the release as two numbers; int32[0] elsewhere |
| `topic`, `partition` | int32[N] | a place in `topics_of`, and the partition's number |
| `replicas` | int32[N, RF] | the preferred one first |
| `strangers` | int32[N, S] | members of the ISR, or a leader, that are no replicas; S is 0 as a rule |
| `isr` | int64[N] | bit i: member i of replicas and strangers is in the ISR |
| `elr` | int64[N] | bit i: replica i is an eligible leader replica (KIP-966); 0 where nobody told |
| `leader` | int32[N] | |
| `min_isr` | int32[N] | of the topic, else of the brokers |
| `unclean` | bool[N] | whether a leader may be elected that is not in sync |
| `stated` | bool[N] | whether there is a state znode |
| `adding`, `removing` | int64[N] | bit i: replica i is being added or removed by a reassignment |
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from model.analyses import AnalysisError
from model.analyses.analysis import Arrays
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import health, surroundings
from model.cluster.partition_columns import PartitionColumns, contained
from model.cluster.topic_image import NOBODY, Flags, Ints, Longs, TopicImage
from model.controller.generations import GENERATIONS
from model.drills.setup_znodes import UNCLEAN_KEY, rules_of, settings_of
from model.drills.voters import is_kraft, turnout_after
from model.kraft_controller.partition_change import levels_of

MANY = 1 << 30
WIDEST = 62
"""Members of one partition that fit the bits."""


def topics_of(image: ClusterImage) -> tuple[str, ...]:
    """The topics by number: by name, so that the same cluster gives the same arrays, however it was read."""
    return tuple(sorted(image.topics.keys() - image.admin.delete_topics))


def racks_of(image: ClusterImage) -> tuple[str, ...]:
    """The racks by number."""
    return tuple(sorted({broker.rack for broker in image.brokers.values() if broker.rack}))


def arrays_of(image: ClusterImage) -> Arrays:
    """All of it. Raises AnalysisError, one line, for a partition of more than WIDEST members."""
    found = health(image, topics_of(image), surroundings(image))
    columns = found.columns
    strangers = _strangers(columns, found.strangers)
    _check_width(columns, strangers)
    brokers = _brokers(image, columns)
    in_sync = np.concatenate([columns.in_isr, _among(strangers, columns.isr)], axis=1)
    topics = columns.topics
    return {
        "brokers": brokers,
        "live": np.isin(brokers, np.fromiter(image.brokers, np.int64)),
        "rack": _racks(image, brokers),
        "controller": np.array([_controller(image, brokers)], np.int32),
        **_quorum(image, brokers),
        "rules": np.array([GENERATIONS.index(rules_of(image))], np.int32),
        "levels": np.array(_levels(image), np.int32),
        "topic": columns.topic,
        "partition": columns.partitions,
        "replicas": _places(brokers, columns.replicas),
        "strangers": _places(brokers, strangers),
        "isr": bits(in_sync),
        "elr": bits(contained(columns.replicas, columns.elr)),
        "leader": _places(brokers, columns.leader),
        "min_isr": found.min_isr,
        "unclean": np.repeat(_unclean(image, topics), [len(topic) for topic in topics]),
        "stated": columns.has_state,
        "adding": bits(_moved(columns, [topic.adding for topic in topics])),
        "removing": bits(_moved(columns, [topic.removing for topic in topics])),
    }


def _levels(image: ClusterImage) -> tuple[int, ...]:
    if not is_kraft(image):
        return ()
    levels = levels_of(image)
    return *levels.release, levels.metadata_version, int(levels.elr)


def _quorum(image: ClusterImage, brokers: NDArray[np.int64]) -> Arrays:
    turnout = turnout_after(image, ())
    left, spare = ((), MANY) if turnout is None else (turnout.left, len(turnout.left) - turnout.majority)
    return {"voter": np.isin(brokers, np.array(left, np.int64)), "spare": np.array([spare], np.int32)}


def bits(flags: Flags) -> Longs:
    """int64[N] of bool[N, W]: bit i for column i."""
    found = np.zeros(len(flags), np.int64)
    for place in range(flags.shape[1]):
        found |= flags[:, place].astype(np.int64) << place
    return found


def _check_width(columns: PartitionColumns, strangers: Ints) -> None:
    members = np.concatenate([columns.replicas, strangers], axis=1)
    if (width := members.shape[1]) > WIDEST:
        row = int((members != NOBODY).sum(axis=1).argmax())
        name = f"{columns.topics[int(columns.topic[row])].name}-{int(columns.partitions[row])}"
        raise AnalysisError(
            f"{name} has {width} replicas (strangers in ISRs counted): {WIDEST} at most can be counted; "
            "a single drill or plan takes more"
        )


def _controller(image: ClusterImage, brokers: NDArray[np.int64]) -> int:
    if is_kraft(image):
        return len(brokers)
    broker = image.controller.broker
    return NOBODY if broker is None or broker not in image.brokers else int(np.searchsorted(brokers, broker))


def _brokers(image: ClusterImage, columns: PartitionColumns) -> NDArray[np.int64]:
    named = [np.unique(column) for column in (columns.replicas, columns.isr, columns.leader)]
    ids = np.unique(np.concatenate([np.fromiter(image.brokers, np.int64), *named]))
    return ids[ids >= 0].astype(np.int64)


def _places(brokers: NDArray[np.int64], ids: Ints) -> Ints:
    """Where these ids are in `brokers`; -1 for what is no broker."""
    if len(brokers) and brokers[-1] == len(brokers) - 1:
        return ids.astype(np.int32)  # 0, 1, 2, …: ids are their own places
    if not len(brokers):
        return np.full_like(ids, NOBODY)
    return np.where(ids < 0, NOBODY, np.searchsorted(brokers, ids)).astype(np.int32)


def _racks(image: ClusterImage, brokers: NDArray[np.int64]) -> Ints:
    numbers = {rack: number for number, rack in enumerate(racks_of(image))}
    found = (image.brokers.get(broker) for broker in brokers.tolist())
    racks = [NOBODY if one is None or not one.rack else numbers[one.rack] for one in found]
    return np.array(racks, np.int32)


def _strangers(columns: PartitionColumns, in_isr: Flags) -> Ints:
    """int32[N, S]: the flagged members of ISRs, and leaders that are neither replicas nor in the ISR."""
    leads = (columns.leader >= 0) & ~columns.leader_in_isr
    leads &= ~(columns.replicas == columns.leader[:, None]).any(axis=1)
    if not leads.any() and not in_isr.any():
        return np.empty((len(columns), 0), np.int32)
    both = np.concatenate([np.where(in_isr, columns.isr, NOBODY), np.where(leads, columns.leader, NOBODY)[:, None]], 1)
    return -np.sort(-both, axis=1)[:, : int((both != NOBODY).sum(axis=1).max())]


def _among(strangers: Ints, isr: Ints) -> Flags:
    return (strangers[:, :, None] == isr[:, None, :]).any(axis=2) & (strangers != NOBODY)


def _unclean(image: ClusterImage, topics: tuple[TopicImage, ...]) -> Flags:
    default = settings_of(image, NOBODY).unclean_leader_election_enable
    said = (image.topic_config(topic.name).get(UNCLEAN_KEY) for topic in topics)
    return np.array([default if text is None else text.strip().lower() == "true" for text in said], np.bool_)


def _moved(columns: PartitionColumns, by_topic: list[Mapping[int, tuple[int, ...]]]) -> Flags:
    """bool[N, RF]: whether the replica there is named for its partition."""
    flags = np.zeros(columns.replicas.shape, np.bool_)
    starts = np.searchsorted(columns.topic, np.arange(len(columns.topics)))
    for topic, start, moves in zip(columns.topics, starts.tolist(), by_topic, strict=True):
        for partition, brokers in moves.items():
            if partition in topic.row_of:
                row = start + topic.row_of[partition]
                flags[row] = np.isin(columns.replicas[row], brokers)
    return flags

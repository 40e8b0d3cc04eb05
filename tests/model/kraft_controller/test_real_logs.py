"""Every change of a partition in real metadata logs follows from the state before it and its cause, by the rules."""

from __future__ import annotations

import msgspec
import pytest

from model.kraft_controller.partition_change import PartitionChange
from model.sources.addresses import METADATA_LOG
from tests.model.kraft_controller.replayed import Logged, log_of, replay
from tests.model.metadata_log.kept import DATA

CHANGES = {
    "3.3.2": {"ShutdownWanted": 4, "BrokerSilent": 4},
    "3.5.2": {"ShutdownWanted": 4, "BrokerSilent": 4},
    "3.7.2": {"directory": 6, "ShutdownWanted": 4},
    "3.9.1": {"directory": 6, "ShutdownWanted": 4},
    "4.0.0": {"directory": 6, "ShutdownWanted": 4},
    "4.1.0": {"directory": 6, "ShutdownWanted": 4},
    "4.4.0": {"directory": 6, "ShutdownWanted": 4},
    "3.9.1-dirs": {"directory": 10, "ShutdownWanted": 8},
    "4.4.0-dirs": {"directory": 10, "ShutdownWanted": 8},
    "3.9.1-quorum": {
        "directory": 6, "ShutdownWanted": 9, "BrokerSilent": 5, "BrokerCaughtUp": 2, "AlterPartition": 6,
    },
    "4.4.0-voters": {
        "directory": 14, "ShutdownWanted": 19, "BrokerSilent": 11, "BrokerRegisters": 5, "BrokerCaughtUp": 9,
        "AlterPartition": 15, "preferred election": 1, "reassignment": 1,
    },
    "deaths/3.9.1": {
        "ShutdownWanted": 322, "BrokerSilent": 227, "BrokerCaughtUp": 30, "AlterPartition": 325,
        "preferred election": 68,
    },
    "deaths/4.1.0": {
        "ShutdownWanted": 322, "BrokerSilent": 227, "BrokerRegisters": 41, "BrokerCaughtUp": 25,
        "AlterPartition": 330, "preferred election": 68,
    },
    "deaths/4.4.0": {
        "ShutdownWanted": 324, "BrokerSilent": 225, "BrokerRegisters": 42, "BrokerCaughtUp": 23,
        "AlterPartition": 332, "preferred election": 63,
    },
}  # fmt: skip
"""Partition changes of each log by what set them off: 3,199 in all. The log of 4.4.0-quorum begins 4.4.0-voters."""


def log_named(name: str) -> list[Logged]:
    return log_of(DATA / name / METADATA_LOG if name.startswith("deaths/") else DATA / name)


def release_of(name: str) -> tuple[int, int]:
    major, minor, *_ = name.removeprefix("deaths/").partition("-")[0].split(".")
    return int(major), int(minor)


@pytest.mark.parametrize("name", [*CHANGES])
def test_every_change_follows(name: str) -> None:
    told = replay(log_named(name), release_of(name))
    assert told.unexplained == []
    assert told.changes == CHANGES[name]


WRONG = [
    msgspec.structs.replace(PartitionChange(), leader=2),
    msgspec.structs.replace(PartitionChange(), isr=(1, 2), elr=(3,)),
    msgspec.structs.replace(PartitionChange(), last_known_elr=(1,)),
    msgspec.structs.replace(PartitionChange(), recovering=True),
    msgspec.structs.replace(PartitionChange(), adding=(9,)),
]


@pytest.mark.parametrize("change", WRONG, ids=str)
def test_a_change_without_a_cause_is_told(change: PartitionChange) -> None:
    """A record that no rule writes there, in place of the first change of a partition."""
    log = log_named("deaths/4.4.0")
    place = next(number for number, each in enumerate(log) if each.change is not None)
    stranger = Logged(-5, None, log[place].partition, change)
    told = replay([*log[:place], stranger], (4, 4))
    assert [offset for offset, _ in told.unexplained] == [-5]

"""What a cluster looks like from outside, and how to read it from TopicCommand --describe of each release.

Pure: text in, values out.
"""

from __future__ import annotations

from typing import NamedTuple

NO_LEADER = -1


class PartitionView(NamedTuple):
    """A partition as an operator sees it. The ISR is a set: releases print it in different orders."""

    leader: int
    replicas: tuple[int, ...]
    isr: frozenset[int]


Partitions = dict[str, dict[int, PartitionView]]


def parse_describe(text: str) -> Partitions:
    """Reads the partition lines, alike in all releases: tab, then `Name: value` separated by tabs.

    The lines of topics don't start with a tab. Words in other lines (warnings, prompts) are no partitions.
    """
    partitions: Partitions = {}
    for line in text.splitlines():
        if not line.startswith("\tTopic:"):
            continue
        fields = dict(_field(cell) for cell in line.split("\t") if ":" in cell)
        view = PartitionView(
            leader=_broker(fields["Leader"]), replicas=_ids(fields["Replicas"]), isr=frozenset(_ids(fields["Isr"]))
        )
        partitions.setdefault(fields["Topic"], {})[int(fields["Partition"])] = view
    return partitions


def _field(cell: str) -> tuple[str, str]:
    name, _, value = cell.partition(":")
    return name.strip(), value.strip()


def _broker(text: str) -> int:
    return NO_LEADER if text == "none" else int(text)


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(broker) for broker in text.split(",") if broker)

"""Units of work into tasks of about the same cost: the longest first, each to the task that has least (LPT)."""

import heapq
from collections.abc import Sequence

from spark_tasks.analysis import Unit

TASKS_A_CORE = 4
FEWEST_TASKS, MOST_LOCAL_TASKS = 8, 16
"""Fewer show no progress and end unevenly; more cost more than they even out."""


def tasks_for(cores: int) -> int:
    """How many tasks a job of Spark gets on so many cores."""
    return max(FEWEST_TASKS, min(cores * TASKS_A_CORE, MOST_LOCAL_TASKS), 2 * cores)


def pack(units: Sequence[Unit], tasks: int) -> list[list[int]]:
    """Ids of units by task, the costliest task first; at most `tasks` of them, none empty.

    No task costs more than 4/3 of what the best packing's costliest does (Graham, 1969).
    """
    loads = [(0.0, 0, number) for number in range(min(tasks, len(units)))]
    """Cost, units, and which task: without cost, it is the number of units that is evened out."""
    packed: list[list[int]] = [[] for _ in loads]
    for unit in sorted(units, key=lambda unit: (-unit.cost, unit.id)):
        load, length, number = loads[0]
        packed[number].append(unit.id)
        heapq.heapreplace(loads, (load + unit.cost, length + 1, number))
    return [packed[number] for _, _, number in sorted(loads, key=lambda load: (-load[0], load[2]))]

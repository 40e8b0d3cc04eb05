"""Partition numbers written short: `0-3,7`, and `3-243/10` for every tenth. Text only."""

from collections.abc import Iterator, Sequence

LEAST_RUN = 3
"""Numbers with a step above one that make a range; two of them are shorter as they are."""


def partition_ranges(numbers: Sequence[int], most_cells: int | None = None) -> str:
    """Ascending numbers as ranges; beyond `most_cells` characters the rest is counted (`0-3,7 +12`)."""
    text, written = "", 0
    for run in _runs(numbers):
        longer = f"{text},{_written(run)}" if text else _written(run)
        left = len(numbers) - written - len(run)
        if most_cells is not None and text and len(longer) + (len(f" +{left}") if left else 0) > most_cells:
            return f"{text} +{len(numbers) - written}"
        text, written = longer, written + len(run)
    return text


def _written(run: Sequence[int]) -> str:
    if len(run) == 1:
        return str(run[0])
    step = run[1] - run[0]
    return f"{run[0]}-{run[-1]}" + (f"/{step}" if step > 1 else "")


def _runs(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    start = 0
    while start < len(numbers):
        end = start + 1
        if end < len(numbers):
            step = numbers[end] - numbers[start]
            while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
                end += 1
            if step > 1 and end - start < LEAST_RUN:
                end = start + 1
        yield numbers[start:end]
        start = end

"""Dealing one by one, in closed form: who comes up when everybody takes part in some of the rounds."""

import numpy as np

from model.consumers.assignors.group import Ints


def rounds(begins: Ints, ends: Ints) -> Ints:
    """intp: who comes up in rounds 0, 1, …, if number i takes part from round `begins[i]` until before `ends[i]`."""
    plays = begins < ends
    edges = np.unique(np.concatenate((begins[plays], ends[plays])))
    parts = [
        np.tile(np.flatnonzero((begins <= start) & (ends > start)), end - start)
        for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)


def least_loaded(counts: Ints, partitions: int) -> Ints:
    """intp[partitions]: who gets each, if it always goes to whoever has least, the first of them where several do.

    `counts` are what everybody has before.
    """
    if partitions == 1:
        return np.array([counts.argmin()])
    ordered = np.sort(counts)
    before = np.cumsum(ordered) - ordered
    raised = int(np.searchsorted(np.arange(len(counts)) * ordered - before, partitions, side="right"))
    level, over = divmod(partitions + int(ordered[:raised].sum()), raised)
    filled = rounds(counts, np.full(len(counts), level, dtype=np.int64))
    return np.concatenate((filled, np.flatnonzero(counts <= level)[:over]))

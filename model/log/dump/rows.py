"""Text of many rows at once from columns: what is the same in all rows is formatted once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]


class Choice:
    """A column whose values are few: row n shows `names[places[n]]`."""

    def __init__(self, names: Sequence[bytes], places: Int64s) -> None:
        self.names = names
        self.places = places

    def __len__(self) -> int:
        return len(self.places)


Column = Int64s | Choice | Sequence[bytes]


def rows(fields: Sequence[tuple[bytes, Column]]) -> list[bytes]:
    """A row of bytes for each place in the columns: each field's label, then its value. There is a row at least."""
    template = b""
    varying: list[Sequence[int] | Sequence[bytes]] = []
    for label, column in fields:
        template += label.replace(b"%", b"%%")
        if isinstance(column, Choice):
            is_same = _is_constant(column.places)
            template += column.names[int(column.places[0])].replace(b"%", b"%%") if is_same else b"%b"
            if not is_same:
                places: list[int] = column.places.tolist()
                varying.append([column.names[place] for place in places])
        elif isinstance(column, np.ndarray):
            is_same = _is_constant(column)
            template += b"%d" % int(column[0]) if is_same else b"%d"
            if not is_same:
                numbers: list[int] = column.tolist()
                varying.append(numbers)
        else:
            template += b"%b"
            varying.append(column)
    if varying:
        return [template % row for row in zip(*varying, strict=True)]
    return [template % ()] * len(fields[0][1])


def _is_constant(numbers: Int64s) -> bool:
    return bool((numbers == numbers[0]).all())

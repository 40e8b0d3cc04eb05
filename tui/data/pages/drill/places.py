"""Which cell of a timeline stands for which scene, and the other way round. Scenes have the same room, times have not:
what matters in a drill happens within milliseconds, after seconds of silence.
"""


def cell_of(scene: int, width: int, count: int) -> int:
    """The cell, of `width`, of one of `count` scenes: the first one it has."""
    return -(-scene * width // count) if count <= width else scene * width // count


def scene_of(cell: int, width: int, count: int) -> int:
    """The scene, of `count`, in a cell of `width`: the first of several there; -1 if there is none at all."""
    if count <= 0 or width <= 0:
        return -1
    inside = max(0, min(cell, width - 1))
    return inside * count // width if count <= width else -(-inside * count // width)

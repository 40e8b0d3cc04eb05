"""Where a scroll bar's thumb is, and where a viewport may stand. Arithmetic on lines; draws nothing."""


def clamp_top(top: int, height: int, total: int) -> int:
    """The first line of the viewport, kept where there is something to see."""
    return max(0, min(top, total - height))


def reveal(index: int, top: int, height: int) -> int:
    """The nearest top from which line `index` can be seen."""
    return max(min(top, index), index - height + 1)


def thumb(top: int, height: int, total: int) -> range:
    """Lines of the viewport that the thumb covers; none when everything is in view.

    It touches an end only when the viewport does.
    """
    if total <= height or height <= 0:
        return range(0)
    size = max(1, height * height // total)
    free = height - size
    last = total - height
    start = 0 if top <= 0 else free if top >= last else max(min(1, free), min(free - 1, top * free // last))
    return range(max(start, 0), max(start, 0) + size)


def top_at(y: int, height: int, total: int) -> int:
    """The viewport's top after a press on line `y` of the scroll bar."""
    return clamp_top(y * (total - height) // max(height - 1, 1), height, total)

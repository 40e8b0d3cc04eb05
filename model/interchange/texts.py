"""Lines of texts that other tools printed, numbered as editors number them, and the error for what is wrong there."""

from collections.abc import Iterator

MOST_ID = 2**31 - 1


class TextError(ValueError):
    """A text that cannot be used; the message names the line, counted from 1, and the way out."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")


def lines_of(data: bytes) -> Iterator[tuple[int, str]]:
    """Each line with its number. In UTF-8, or in the UTF-16 that PowerShell writes; what is neither is replaced."""
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = data.decode("utf-16" if is_wide else "utf-8-sig", errors="replace")
    for number, line in enumerate(text.split("\n"), 1):
        yield number, line.removesuffix("\r")


def number_in(line: int, text: str) -> int:
    """An id, an int32 in Kafka. Raises TextError."""
    if len(text) > 10 or int(text) > MOST_ID:
        raise TextError(line, f"{text[:20]} is too large to be an id")
    return int(text)


def ids_in(line: int, text: str) -> tuple[int, ...]:
    """Broker ids between commas, none of them twice. Raises TextError."""
    ids = tuple(number_in(line, word) for word in text.split(",")) if text else ()
    if len(set(ids)) < len(ids):
        raise TextError(line, f"{text[:60]} names a broker twice")
    return ids

"""What a child process said, in a file it appends to. It is only read here, and never whole."""

from pathlib import Path

LONGEST_LINE = 300
TAIL_BYTES = 8192


class LogFile:
    """May not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def size(self) -> int:
        """In bytes."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def lines_from(self, begin: int) -> list[str]:
        """Whole lines from this byte on."""
        try:
            with self.path.open("rb") as file:
                file.seek(begin)
                text = file.read()
        except OSError:
            return []
        return text[: text.rfind(b"\n") + 1].decode(errors="replace").splitlines()

    def last_lines(self, count: int) -> tuple[str, ...]:
        """The last ones that say something, cut to a bearable length, without control characters."""
        lines = self.lines_from(max(0, self.size() - TAIL_BYTES))
        said = ["".join(filter(str.isprintable, line)).strip()[:LONGEST_LINE] for line in lines]
        return tuple(list(filter(None, said))[-count:])

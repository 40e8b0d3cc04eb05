"""The folder of one server: its configuration, log and data. It does not run the server."""

import weakref
from pathlib import Path

from model.sandbox.errors import SandboxError
from model.sandbox.guarded_folder import temporary_folder

LONGEST_LINE = 200
# Printed at every start, by slf4j without a binding and by Java about its archives.
NOISE = ("SLF4J", "[", "OpenJDK 64-Bit Server VM warning")


class ServerFolder:
    """A given folder, which stays, or a temporary one, which goes with `remove`, this object or this process."""

    def __init__(self, given: Path | None = None) -> None:
        """Makes the folder. Raises SandboxError when it can't be made."""
        try:
            if given is None:
                own = temporary_folder("kdrill-zookeeper-")
                self.path, self._remove = own.path, weakref.finalize(self, own.remove)
            else:
                self.path, self._remove = given.absolute(), _stay
            self.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_writable(error) from error

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def configuration(self) -> Path:
        return self.path / "zoo.cfg"

    @property
    def log(self) -> Path:
        return self.path / "zookeeper.log"

    def write_configuration(self, text: str) -> None:
        """Raises SandboxError when the folder is not writable."""
        try:
            self.configuration.write_text(text, encoding="ascii")
            self.log.open("ab").close()
        except OSError as error:
            raise _not_writable(error) from error

    def last_log_line(self) -> str:
        """What the server said last, without control characters; empty when it said nothing of its own."""
        lines = self.log.read_text(errors="replace").splitlines()
        told = [line.strip() for line in lines if line.strip() and not line.startswith(NOISE)]
        return "".join(filter(str.isprintable, told[-1]))[:LONGEST_LINE] if told else ""

    def remove(self) -> None:
        """Deletes a temporary folder; a given one stays."""
        self._remove()


def _stay() -> None:
    """A given folder is not removed."""


def _not_writable(error: OSError) -> SandboxError:
    return SandboxError(f"can't write to {error.filename}: {error.strerror}. Choose a folder you may write to.")

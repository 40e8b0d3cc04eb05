"""A key of server.properties. It holds no value."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from model.broker.settings.kinds import Kind

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Key(Generic[T_co]):
    """`topic`: the name under which a topic's configuration overrides it; empty if none does."""

    name: str
    kind: Kind[T_co]
    default: T_co
    topic: str = ""

    def read(self, text: str, called: str = "") -> T_co:
        """A value. Raises ValueError with a line for the user that names the key, or what it was `called`."""
        try:
            return self.kind.read(text)
        except ValueError:
            raise ValueError(f"{called or self.name} takes {self.kind.wanted}, not {text[:80]!r}") from None

"""A broker's settings as a value: what was given, and the default for the rest. It reads no text."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar, cast

import msgspec

from model.broker.settings import log_keys
from model.broker.settings.key import Key

T = TypeVar("T")

_HOUR_MS = 60 * 60 * 1000
_MINUTE_MS = 60 * 1000


class Settings(msgspec.Struct, frozen=True):
    """`given`: values by the names of keys, as their kinds read them. `settings[KEY]` has the type of the key."""

    given: Mapping[str, object] = MappingProxyType({})

    def __getitem__(self, key: Key[T]) -> T:
        """What was given, or the default."""
        return cast(T, self.given.get(key.name, key.default))

    def with_values(self, values: Mapping[str, object]) -> "Settings":
        """With more values, by the names of keys."""
        return Settings({**self.given, **values}) if values else self

    @property
    def retention_ms(self) -> int:
        """How long records are kept: log.retention.ms, else .minutes, else .hours. -1: for ever."""
        in_ms, minutes = self[log_keys.LOG_RETENTION_MS], self[log_keys.LOG_RETENTION_MINUTES]
        if in_ms is not None:
            return in_ms
        hours = self[log_keys.LOG_RETENTION_HOURS]
        longest = minutes * _MINUTE_MS if minutes is not None else hours * _HOUR_MS
        return -1 if longest < 0 else longest

    @property
    def roll_ms(self) -> int:
        """After how long a segment is closed: log.roll.ms, else .hours."""
        in_ms = self[log_keys.LOG_ROLL_MS]
        return self[log_keys.LOG_ROLL_HOURS] * _HOUR_MS if in_ms is None else in_ms

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """Where logs lie: log.dirs, else log.dir."""
        return self[log_keys.LOG_DIRS] or (self[log_keys.LOG_DIR],)

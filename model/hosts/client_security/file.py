"""A client.properties as it was read: what a key says, where it stands, and which keys nobody asked for.

Knows no key.
"""

import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NoReturn

from model.cluster.whole_file import read_text
from model.hosts.client_security.java_properties import parse_properties
from model.hosts.client_security.references import UNDECLARED, References, provider_kind
from model.hosts.client_security.values import Secret, SecurityError
from model.hosts.typed_path import typed_path

PROVIDERS = "config.providers"


class PropertiesFile:
    """One file, asked key by key. Every error names file, line and key, and never a secret."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        """Raises SecurityError where there is no such file, or it is none."""
        self.path = path
        try:
            text = read_text(path, "iso-8859-1")  # as Java reads properties: other letters as \\uXXXX
        except (OSError, ValueError) as error:  # the latter: a NUL in the path
            raise SecurityError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from None
        try:
            self._properties = parse_properties(text)
        except SecurityError as error:
            raise SecurityError(f"{path}:{error}") from None
        self._asked = {PROVIDERS}
        self._holds_secret = False
        self._references = References(self._providers(), environment, path.parent)

    def text(self, key: str, default: str = "") -> str:
        """The value; `default` where the key is not there."""
        self._asked.add(key)
        if key not in self._properties:
            return default
        try:
            return self._references.resolved(self._properties[key].value).strip()
        except SecurityError as error:
            self.refuse(key, str(error))

    def secret(self, key: str) -> Secret:
        """A value that is not to be shown."""
        found = Secret(self.text(key))
        self._holds_secret |= bool(found) and found.text == self._properties[key].value.strip()
        return found

    def unresolved(self, key: str) -> str:
        """The value as it is written, for `resolved` to look into once it is taken apart."""
        self._asked.add(key)
        return self._properties[key].value if key in self._properties else ""

    def resolved(self, key: str, part: str) -> str:
        """A part of a key's value that is a secret."""
        try:
            found = self._references.resolved(part)
        except SecurityError as error:
            self.refuse(key, str(error))
        self._holds_secret |= found == part
        return found

    def one_of(self, key: str, choices: Collection[str], default: str) -> str:
        """The value, which has to be one of `choices`, in capitals or not."""
        said = self.text(key, default)
        if said.upper() not in choices:
            self.refuse(key, f"there is no {said[:40]!r}: write one of {', '.join(choices)}")
        return said.upper()

    def place(self, key: str) -> str:
        """The file that a key names, which is relative to this one; empty where the key is not there."""
        named = self.text(key)
        if not named:
            return ""
        place = self.path.parent / typed_path(named)
        if not place.is_file():
            self.refuse(key, f"{place} is no file; check the path")
        return str(place)

    def has(self, *keys: str) -> bool:
        return any(key in self._properties for key in keys)

    def refuse(self, key: str, what: str) -> NoReturn:
        """Raises SecurityError."""
        line = f":{self._properties[key].line}" if key in self._properties else ""
        raise SecurityError(f"{self.path}{line}: {key}: {what}") from None

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables that values stand in."""
        return tuple(sorted(self._references.variables))

    def warnings(self) -> tuple[str, ...]:
        """Keys that nobody asked for, and files with secrets that everybody may read. After all questions."""
        unused = [found for key, found in self._properties.items() if key not in self._asked]
        files = {self.path} if self._holds_secret else set[Path]()
        open_to_all = [str(file) for file in sorted(files | self._references.files) if _is_open_to_all(file)]
        return (
            *([f"{self.path}: not used: {', '.join(f'{p.key} (line {p.line})' for p in unused)}"] if unused else []),
            *(f"{file} holds a secret and everybody on this machine may read it: chmod o-r" for file in open_to_all),
        )

    def _providers(self) -> Mapping[str, str]:
        names = self._properties.get(PROVIDERS)
        if names is None:
            return UNDECLARED
        kinds: dict[str, str] = {}
        for name in filter(None, (name.strip() for name in names.value.split(","))):
            key = f"{PROVIDERS}.{name}.class"
            self._asked.add(key)
            if key not in self._properties:
                self.refuse(PROVIDERS, f"{key} is missing")
            try:
                kinds[name] = provider_kind(self._properties[key].value.strip())
            except SecurityError as error:
                self.refuse(key, str(error))
        return kinds


def _is_open_to_all(file: Path) -> bool:
    return bool(file.stat().st_mode & stat.S_IROTH)

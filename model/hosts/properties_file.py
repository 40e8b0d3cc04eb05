"""A client.properties as it was read: keys, values and their lines, references resolved, keys nobody asked for.

Knows no key. The syntax is that of `java.util.Properties.load`: comments, `=`, `:` and blanks as separators,
continued lines, escapes. `${env:NAME}`, `${file:PATH}` and their like stand for secrets that are kept elsewhere:
Kafka 3.9 `ConfigTransformer`, `EnvVarConfigProvider`, `FileConfigProvider`, `DirectoryConfigProvider`. Unlike there,
the three are known without `config.providers`, a file may be the secret itself, and a missing value is an error.
"""

import re
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from model.cluster.whole_file import read_text, typed_path
from model.hosts.client_security import Secret, SecurityError

_BLANKS = " \t\f"
_KEY_END = re.compile(r"(?<!\\)(?:\\\\)*([=: \t\f])")
_ESCAPED_CHARACTER = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class Property(NamedTuple):
    """One key and its value, unescaped."""

    key: str
    value: str
    line: int
    """Where its key stands, from 1."""


def parse_properties(text: str) -> dict[str, Property]:
    """By key; of a key that is there twice, the last. Raises SecurityError, `LINE: what is wrong`."""
    return {found.key: found for found in (_property(line, number) for line, number in _logical_lines(text))}


def _logical_lines(text: str) -> Iterator[tuple[str, int]]:
    """Lines joined where one ends in an odd number of backslashes, and the number of the first."""
    joined, begun = "", 0
    for number, line in enumerate(re.split(r"\r\n|[\r\n]", text), 1):
        stripped = line.lstrip(_BLANKS)
        if not begun:
            if not stripped or stripped[0] in "#!":
                continue
            begun = number
        joined += stripped
        if (len(stripped) - len(stripped.rstrip("\\"))) % 2:
            joined = joined[:-1]
            continue
        yield joined, begun
        joined, begun = "", 0
    if begun:
        yield joined, begun


def _property(line: str, number: int) -> Property:
    end = _KEY_END.search(line)
    if end is None:
        return Property(_unescaped(line, number), "", number)
    rest = line[end.start(1) :].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    return Property(_unescaped(line[: end.start(1)], number), _unescaped(rest, number), number)


def _unescaped(text: str, number: int) -> str:
    def meant(escape: re.Match[str]) -> str:
        what = escape[1]
        if len(what) > 1:
            return chr(int(what[1:], 16))
        if what == "u":
            raise SecurityError(f"{number}: \\u without four hexadecimal digits; write a backslash as \\\\")
        return _LETTERS.get(what, what)

    return _ESCAPED_CHARACTER.sub(meant, text)


_REFERENCE = re.compile(r"\$\{([^}:]*):(?:([^}]*?):)?([^}:]*)\}")
_CLASSES = {"EnvVarConfigProvider": "env", "FileConfigProvider": "file", "DirectoryConfigProvider": "directory"}
UNDECLARED = {kind: kind for kind in _CLASSES.values()}
"""Provider → what it is, where the file declares none."""


class References:
    """Looks up what values refer to, and remembers which files and variables were read."""

    def __init__(self, providers: Mapping[str, str], environment: Mapping[str, str], folder: Path) -> None:
        """`providers`: name → env, file or directory; relative paths are relative to `folder`."""
        self.files: set[Path] = set()
        self.variables: set[str] = set()
        self._providers = providers
        self._environment = environment
        self._folder = folder

    def resolved(self, value: str) -> str:
        """Raises SecurityError, which names the reference."""
        return _REFERENCE.sub(self._found, value)

    def _found(self, reference: re.Match[str]) -> str:
        provider, path, key = reference.groups()
        kind = self._providers.get(provider)
        if kind is None:
            return reference[0]
        if kind == "env":
            found = self._environment.get(key)
            if not found:
                raise SecurityError(f"the environment variable {key} is not set")
            self.variables.add(key)
            return found
        if kind == "directory":
            return self._text(f"{path}/{key}").strip()
        if path is None:
            return self._text(key).strip()
        properties = parse_properties(self._text(path))
        if key not in properties:
            raise SecurityError(f"{path} has no key {key}")
        return properties[key].value

    def _text(self, path: str) -> str:
        place = self._folder / typed_path(path)
        try:
            text = read_text(place)
        except (OSError, ValueError) as error:  # the latter: a NUL in the path
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text, or no path"
            raise SecurityError(f"{place} cannot be read: {reason}") from None
        self.files.add(place)
        return text


def provider_kind(class_name: str) -> str:
    """env, file or directory. Raises SecurityError."""
    kind = _CLASSES.get(class_name.rpartition(".")[2])
    if kind is None:
        raise SecurityError(f"{class_name} is not known; there are {', '.join(_CLASSES)}")
    return kind


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

"""`${env:NAME}`, `${file:PATH}` and their like in a value → what they stand for, so that files need hold no secret.

Source: Kafka 3.9 `ConfigTransformer`, `EnvVarConfigProvider`, `FileConfigProvider`, `DirectoryConfigProvider`. Other
than there, the three are known without `config.providers`, a file may be the secret itself, and what is not there is
an error.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from model.cluster.whole_file import read_text
from model.hosts.client_security.java_properties import parse_properties
from model.hosts.client_security.values import SecurityError
from model.hosts.typed_path import typed_path

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

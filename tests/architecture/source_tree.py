"""The repository's own files, as the tests about them see them: which there are, and their syntax trees."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("model", "spark_tasks", "tui")
_TEXTS = (".cfg", ".json", ".lock", ".md", ".py", ".tcss", ".toml", ".txt", ".yaml", ".yml", "/run")


def modules(*folders: str) -> list[Path]:
    """Python files below these folders, relative to the repository."""
    return sorted(path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*.py"))


def texts() -> list[Path]:
    """Every file that a person may read, relative to the repository; nothing that tools left behind."""
    places = [path for path in ROOT.iterdir() if path.is_file() or _is_ours(path)]
    files = [file for place in places for file in (place.rglob("*") if place.is_dir() else [place])]
    return sorted(file.relative_to(ROOT) for file in files if file.is_file() and str(file).endswith(_TEXTS))


def read(path: Path) -> str:
    """A file's text."""
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def syntax(path: Path) -> ast.Module:
    """A module's syntax tree."""
    return ast.parse(read(path), str(path))


def dotted(path: Path) -> str:
    """A module's name: `model/znodes/__init__.py` is `model.znodes`."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def folders_with_modules(package: str) -> set[str]:
    """Folders below a package in which Python files lie, as `model/znodes`."""
    return {path.parent.as_posix() for path in modules(package)}


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and (folder.name in (".ci", "docs", "tests") or folder.name in PACKAGES)

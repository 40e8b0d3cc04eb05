"""What the operator chose, kept from one run to the next: the theme; that the tour was taken; by cluster the screen,
filters, sorting, views.

A file a cluster in the platform's folder for state, so that several kdrill at once never share a half-written one; the
last to end is remembered. Files that cannot be used are passed over with a note. Holds no secret and no cluster data.
"""

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from platformdirs import user_state_path

from model.cluster.texts import visible_json
from model.cluster.whole_file import read_whole
from tui.engine.actions import SCREENS
from tui.engine.palette import THEMES
from tui.engine.view_state import LEVELS, VIEWS, ListState, ViewState

MOST_BYTES = 1 << 20
"""A larger file is none of ours."""

MOST_CLUSTERS = 100
"""Beyond this many, those not seen for the longest time are forgotten."""

T = TypeVar("T")


class KeptList(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a list was looked at; the names are those of ListState."""

    filter: str = ""
    sort: str = ""
    reverse: bool = False
    view: str = ""
    left: tuple[str, ...] = ()


class _Look(msgspec.Struct, frozen=True):
    format: Literal["kdrill.look/1"]
    theme: str


class _Views(msgspec.Struct, frozen=True):
    format: Literal["kdrill.views/1"]
    cluster: str
    screen: str
    lists: dict[str, KeptList]


class _Tour(msgspec.Struct, frozen=True):
    """That the guided tour was taken, or ended."""

    format: Literal["kdrill.tour/1"]


class Remembered(msgspec.Struct, frozen=True):
    """What was chosen last; empty where nothing was. `note` is a line about what could not be read or will be lost."""

    theme: str = ""
    screen: str = ""
    lists: Mapping[str, KeptList] = {}
    toured: bool = False
    """Whether the guided tour of the sandbox was taken, or ended."""
    note: str = ""

    @property
    def view_state(self) -> ViewState:
        """What a run begins with; views that there are no more are left out."""
        return ViewState(lists={name: _list_state(name, kept) for name, kept in self.lists.items()})


def state_folder() -> Path:
    """Where the platform keeps state; `XDG_STATE_HOME` is heard."""
    return user_state_path("kdrill", appauthor=False)


def recall(folder: Path, cluster: str) -> Remembered:
    """What was chosen last on this cluster. Raises nothing: a file that cannot be used is a note."""
    notes: list[str] = [] if is_writable(folder) else [f"{folder} cannot be written: nothing will be remembered"]
    look = _read(folder / "look.json", _Look, notes)
    views = _read(_file_of(folder, cluster), _Views, notes)
    return Remembered(
        theme=look.theme if look and look.theme in THEMES else "",
        screen=views.screen if views and views.screen in SCREENS else "",
        lists=views.lists if views else {},
        toured=_read(folder / "tour.json", _Tour, notes) is not None,
        note=notes[-1] if notes else "",
    )


def remember(
    folder: Path, cluster: str, *, theme: str, screen: str, view_state: ViewState, toured: bool = False
) -> str:
    """Keeps what was chosen on this cluster; an empty theme leaves that of before. Why it could not, in one line."""
    lists = [(name, _kept(name, state)) for name, state in view_state.lists.items()]
    name = cluster.encode(errors="replace").decode()
    views = _Views("kdrill.views/1", name, screen, {name: kept for name, kept in lists if kept != KeptList()})
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(_file_of(folder, cluster), views)
        if theme:
            _write(folder / "look.json", _Look("kdrill.look/1", theme))
        if toured:
            _write(folder / "tour.json", _Tour("kdrill.tour/1"))
        for old in sorted(folder.glob("views-*.json"), key=lambda file: file.stat().st_mtime_ns)[:-MOST_CLUSTERS]:
            old.unlink(missing_ok=True)
    except (OSError, UnicodeError) as error:
        return f"{folder} cannot be written: {getattr(error, 'strerror', None) or error}: not remembered for next time"
    return ""


def _kept(name: str, state: ListState) -> KeptList:
    first = VIEWS.get(name, ("",))[0]
    return KeptList(state.filter, state.sort, state.reverse, "" if state.view == first else state.view, state.left)


def _list_state(name: str, kept: KeptList) -> ListState:
    first = VIEWS.get(name, ("",))[0]
    known = {*VIEWS.get(name, ()), *chain.from_iterable(LEVELS.get(name, ()))}
    return ListState(
        filter=kept.filter,
        sort=kept.sort,
        reverse=kept.reverse,
        view=kept.view if kept.view in known else first,
        left=tuple(view for view in kept.left if view in known),
    )


def _file_of(folder: Path, cluster: str) -> Path:
    readable = re.sub(r"\W+", "-", cluster, flags=re.ASCII).strip("-")[-40:]
    return folder / f"views-{readable}-{hashlib.sha256(os.fsencode(cluster)).hexdigest()[:12]}.json"


def is_writable(folder: Path) -> bool:
    """Whether files can be created in the folder, or the folder itself."""
    there = next((place for place in (folder, *folder.parents) if os.path.lexists(place)), folder)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _read(path: Path, type_: type[T], notes: list[str]) -> T | None:
    try:
        if not os.path.lexists(path):
            return None
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            raise ValueError("no file of kdrill's")
        return msgspec.json.decode(read_whole(path, MOST_BYTES, only_file=True), type=type_)
    except OSError as error:
        notes.append(f"{path} cannot be read: {error.strerror or error}")
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        notes.append(f"{path} is damaged or not kdrill's: passed over")
    return None


def _write(path: Path, value: msgspec.Struct) -> None:
    """Replaces the file as a whole, even if another process writes at the same time."""
    text = visible_json(msgspec.json.format(msgspec.json.encode(value)))
    descriptor, beside = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(text)
        os.replace(beside, path)
    except OSError:
        os.unlink(beside)
        raise

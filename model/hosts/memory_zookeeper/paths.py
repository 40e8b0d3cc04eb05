"""What ZooKeeper takes for a path, and where a path's parent is. It knows no tree."""

import re

SPECIAL = frozenset({"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"})
"""Can't be deleted (org.apache.zookeeper.server.ZKDatabase.isSpecialPath)."""

# org.apache.zookeeper.common.PathUtils.validatePath, which sees UTF-16: outside the BMP all is surrogates.
_NAME = "[^/\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff\U00010000-\U0010ffff]+"
_VALID = re.compile(rf"/|(?:/(?!\.\.?(?:/|\Z)){_NAME})+")


def is_valid(path: str) -> bool:
    """Whether a znode can have this path: absolute, without empty, `.` and `..` names or control characters."""
    if path.isascii() and path.isprintable() and "//" not in path and "/." not in path:  # nearly all, and faster
        return path[:1] == "/" and (path[-1] != "/" or path == "/")
    return _VALID.fullmatch(path) is not None


def split(path: str) -> tuple[str, str]:
    """The parent's path and the name behind the last slash, of a path that has one."""
    parent, _, name = path.rpartition("/")
    return parent or "/", name


def parent_of(path: str) -> str:
    """The path before the last slash, of a path that has one."""
    return path[: path.rindex("/")] or "/"

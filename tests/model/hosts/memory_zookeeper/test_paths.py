"""Which paths a znode can have."""

import pytest

from model.hosts.memory_zookeeper.tree import is_valid, parent_of, split


@pytest.mark.parametrize(
    "path", ["/", "/a", "/a/b", "/...", "/.a", "/a.", "/a/..b", "/é/ü", "/a b", "/%3Cdefault%3E", "/<default>", "/中"]
)
def test_valid(path: str) -> None:
    assert is_valid(path)


@pytest.mark.parametrize(
    "path",
    ["", "a", "a/b", "//", "/a/", "/a//b", "/.", "/..", "/a/.", "/../a", "/a/./b"]
    + [f"/a{character}b" for character in "\0\x01\x1f\x7f\x9f\n\ue000\uf8ff\ufff0\uffff\U0001f600"],
)
def test_not_valid(path: str) -> None:
    assert not is_valid(path)


def test_parents() -> None:
    assert split("/a/b") == ("/a", "b")
    assert split("/a") == ("/", "a")
    assert parent_of("/a/b") == "/a"
    assert parent_of("/a") == "/"

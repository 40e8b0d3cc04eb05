"""Which znodes a load reads: all that say something, found by listing containers and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from model.sources.zookeeper.translate import is_read
from model.sources.zookeeper.watching import KAFKAS_OWN, ROOTS, SINGLES, below, walk
from model.znodes.catalogue import CATALOGUE
from model.zookeeper import Children, Forbidden, Unread
from tests.model.sources.zookeeper.znode_values import Tree, captured, znode

NAMES = {"{topic}": "t", "{pattern_type}": "prefixed"}


def example_paths() -> list[str]:
    """A path of each kind in the catalogue that a load is to read."""
    paths: list[str] = []
    for row in CATALOGUE:
        path = "/".join(NAMES.get(part, "1" if part.startswith("{") else part) for part in row.pattern.split("/"))
        paths.append(path.replace("{sequence}", "0000000001"))
    return [path for path in paths if is_read(path)]


def with_parents(paths: Iterable[str]) -> Tree:
    every = {"/"}
    for path in paths:
        parts = path.split("/")
        every.update("/".join(parts[:depth]) for depth in range(2, len(parts) + 1))
    return Tree(znode(path) for path in every)


def test_a_load_finds_every_kind_of_znode_that_says_something() -> None:
    wanted = example_paths()
    found = walk(with_parents(wanted).children)
    assert set(wanted) <= {*found.paths, *SINGLES}


@pytest.mark.parametrize("name", ["kafka-3.9.1.json", "kafka-1.1.1-with-old-consumers.json"])
def test_a_load_reads_what_there_is_to_read_once_and_no_more(name: str) -> None:
    tree = captured(name)
    found = walk(tree.children)
    paths = [*SINGLES, *found.paths]
    assert len(paths) == len(set(paths))
    there = {path for path in walk_all(tree) if is_read(path)}
    assert there <= set(paths)
    assert {path for path in found.paths if not is_read(path)} == set()
    assert found.listed >= KAFKAS_OWN


def walk_all(tree: Tree, path: str = "/") -> list[str]:
    (answer,) = tree.children([path])
    assert isinstance(answer, Children)
    names = answer.names
    return [path, *(each for name in names for each in walk_all(tree, f"{path.rstrip('/')}/{name}"))]


def test_partitions_are_not_listed_one_by_one() -> None:
    asked: list[str] = []
    tree = captured("kafka-3.9.1.json")

    def listing(paths: Iterable[str]) -> list[Children | Unread]:
        asked.extend(paths)
        return tree.children(asked[len(asked) - len(list(paths)) :])

    walk(listing)
    assert "/brokers/topics/orders/partitions" in asked
    assert not [path for path in asked if "/partitions/" in path]


def test_what_may_not_be_listed_is_said_and_the_rest_found() -> None:
    tree = captured("kafka-3.9.1.json")

    def listing(paths: Iterable[str]) -> list[Children | Unread]:
        return [
            Forbidden(answer.path) if answer.path == "/config/topics" else answer for answer in tree.children(paths)
        ]

    found = walk(listing)
    assert found.forbidden == [Forbidden("/config/topics")]
    assert "/brokers/ids/1" in found.paths
    assert not [path for path in found.paths if path.startswith("/config/topics/")]


def test_where_there_is_no_kafka_nothing_is_listed() -> None:
    found = walk(Tree([znode("/"), znode("/zookeeper")]).children)
    assert (found.paths, found.listed, found.forbidden) == ([], set(), [])


@pytest.mark.parametrize(
    ("path", "is_container"),
    [
        *((root, True) for root, _ in ROOTS),
        ("/brokers/topics/t/partitions", True),
        ("/consumers/g/ids", True),
        ("/consumers/g/owners", True),
        ("/consumers/g/owners/t", True),
        ("/consumers/g/offsets/t", True),
        ("/config/users/u/clients", True),
        ("/kafka-acl/Topic", True),
        ("/kafka-acl-extended/prefixed/Topic", True),
        ("/", False),
        ("/brokers", False),
        ("/brokers/topics/t", False),
        ("/brokers/topics/t/partitions/0", False),
        ("/brokers/topics/t/partitions/0/state", False),
        ("/consumers/g", False),
        ("/consumers/g/owners/t/0", False),
        ("/config/users/u", False),
        ("/kafka-acl/Topic/orders", False),
        ("/kafka-acl-changes", False),
        ("/controller", False),
    ],
)
def test_which_znodes_are_containers(path: str, is_container: bool) -> None:
    assert (below(path) is not None) is is_container

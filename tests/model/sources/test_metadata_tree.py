"""A metadata log browsed like znodes."""

from __future__ import annotations

import json
from functools import partial

import pytest

from model.cluster.texts import HIDDEN
from model.sources.addresses import MetadataLogName, parse_source
from model.sources.feed import Feed, Moment
from model.sources.metadata_log.metadata_log_source import MetadataLogSource
from model.sources.metadata_tree import LOGGED, TOLD, TreeReader, node_at
from model.sources.zookeeper.browser import ZnodeBrowser
from model.zookeeper import Missing, Znode
from tests.model.metadata_log.kept import DATA, QUORUM


def reader_of(name: str) -> TreeReader:
    named, moments = parse_source(name), list[Moment]()
    assert isinstance(named, MetadataLogName)
    source = MetadataLogSource(named)
    source.open(Feed(source.name, moments.append))
    source.close()
    return TreeReader(partial(node_at, moments[-1].image))


def walked(browser: ZnodeBrowser, path: str = "/") -> list[str]:
    below = [f"{path.rstrip('/')}/{name}" for name in browser.children(path, 0)]
    return [place for each in below for place in (each, *walked(browser, each))]


def value(reader: TreeReader, path: str) -> Znode:
    (znode,) = reader.read_many([path])
    assert isinstance(znode, Znode), path
    return znode


def test_every_place_that_is_listed_is_there_and_no_other() -> None:
    reader = reader_of(str(QUORUM))
    places = walked(ZnodeBrowser(reader))
    assert all(isinstance(answer, Znode) for answer in reader.read_many(places))
    nowhere = [*(f"{place}/x" for place in places), "/x", "/topics/elr/00", "/topics/elr/9/data", "/brokers/6"]
    assert all(isinstance(answer, Missing) for answer in reader.read_many(nowhere))


@pytest.mark.parametrize(
    ("at", "offset", "epoch", "isr"), [("", 146, 15, [1, 3, 4]), ("@60", 60, 4, [3, 5]), ("@122", 122, 12, [1, 3, 4])]
)
def test_a_partition_says_which_record_wrote_it(at: str, offset: int, epoch: int, isr: list[int]) -> None:
    znode = value(reader_of(f"{QUORUM}{at}"), "/topics/elr/0/data")
    assert (znode.stat.czxid, znode.stat.mzxid, znode.stat.version) == (LOGGED, offset, epoch)
    told = json.loads(znode.data)
    assert (sorted(told["isr"]), told["partitionEpoch"]) == (isr, epoch)


@pytest.mark.parametrize(
    ("at", "directories"),
    [
        ("@40", ["unassigned"]),
        ("@56", ["x39MGcmb8jso-rqt3wARPA"]),
        ("", ["x39MGcmb8jso-rqt3wARPA"]),
    ],
)
def test_a_partition_names_the_log_directories_of_its_replicas(at: str, directories: list[str]) -> None:
    reader = reader_of(f"{QUORUM}{at}")
    assert json.loads(value(reader, "/topics/single/0/data").data)["directories"] == directories
    known = json.loads(value(reader, "/brokers/4/registration").data)["logDirs"]
    assert {*directories} <= {*known, "unassigned"}
    before = reader_of(str(DATA / "3.5.2"))
    topic = before.children("/topics").names[0]  # pyright: ignore[reportAttributeAccessIssue]
    assert "directories" not in json.loads(value(before, f"/topics/{topic}/0/data").data), "nobody tells"


def test_what_only_the_log_knows_is_there() -> None:
    reader = reader_of(str(DATA / "4.4.0"))
    names = {name: reader.children(f"/{name}").names for name in ("acls", "controllers", "features", "producerIds")}  # pyright: ignore[reportAttributeAccessIssue]
    assert all(names.values()), names
    registration = value(reader, f"/brokers/{reader.children('/brokers').names[0]}/registration")  # pyright: ignore[reportAttributeAccessIssue]
    assert registration.stat.czxid == TOLD
    assert json.loads(registration.data)["logDirs"]


def test_voters_say_where_they_listen_and_which_directory_has_their_log() -> None:
    reader = reader_of(str(QUORUM))
    voters = [json.loads(value(reader, f"/metadataQuorum/voters/{number}").data) for number in (1, 2, 3)]
    directories = "MkU3OEVBNTcwNTJENDM2Ag", "MkU3OEVBNTcwNTJENDM2Aw", "MkU3OEVBNTcwNTJENDM2BA"
    assert voters == [
        {"directoryId": directory, "endpoints": [f"CONTROLLER://127.0.0.1:{port}"]}
        for port, directory in enumerate(directories, 19411)
    ]
    before = reader_of(str(DATA / "3.3.2"))
    assert json.loads(value(before, "/metadataQuorum/voters/1").data) == {}, "nobody tells"


def test_settings_of_users_and_their_clients_are_folders() -> None:
    reader = reader_of(str(DATA / "4.4.0"))
    configs = [place for place in walked(ZnodeBrowser(reader)) if place.startswith("/configs/")]
    assert {place.split("/")[2] for place in configs} >= {"topics", "users"}
    known = {name: told for place in configs for name, told in json.loads(value(reader, place).data or b"{}").items()}
    assert known["listener.name.internal.ssl.key.password"] == known["SCRAM-SHA-256"] == HIDDEN
    assert known["consumer_byte_rate"] != HIDDEN

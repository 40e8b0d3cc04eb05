"""What is remembered of znodes on the way from a source to its sink."""

from model.sources.source import FactBatch, SourceStatus
from model.sources.zookeeper.browser import Witness
from model.znodes.history import TOTAL_BYTES
from model.zookeeper import Missing, Stat, Znode


class Heard:
    """A sink that notes what the witness knew of `/a` when it was told."""

    witness: Witness

    def __init__(self) -> None:
        self.batches: list[FactBatch] = []
        self.known: list[list[bytes | None]] = []
        self.statuses: list[SourceStatus] = []

    def take(self, batch: FactBatch) -> None:
        self.batches.append(batch)
        self.known.append(values(self.witness))

    def report(self, status: SourceStatus) -> None:
        self.statuses.append(status)


def witness() -> tuple[Witness, Heard]:
    heard = Heard()
    heard.witness = Witness(heard)
    return heard.witness, heard


def values(witness: Witness, path: str = "/a") -> list[bytes | None]:
    return [version.data for version in witness.versions(path)]


def znode(path: str, mzxid: int, data: bytes) -> Znode:
    return Znode(path, data, Stat(1, mzxid, 1, mzxid, mzxid, 0, 0, 0, len(data), 0, 1))


def batch(*read: Znode | Missing, listing: bool = False, fresh: bool = False) -> FactBatch:
    return FactBatch((), 1, 77, listing=listing, fresh=fresh, read=read)


def test_all_is_passed_on_and_whoever_hears_of_a_change_finds_it() -> None:
    witness_, heard = witness()
    told = [batch(znode("/a", 1, b"1"), listing=True), batch(znode("/a", 2, b"2")), batch(Missing("/a"))]
    for one in told:
        witness_.take(one)
    witness_.report(SourceStatus("live"))
    assert heard.batches == told
    assert heard.statuses == [SourceStatus("live")]
    assert heard.known == [[b"1"], [b"1", b"2"], [b"1", b"2", None]]
    assert witness_.versions("/a")[-1].at_ms == 77


def test_what_others_read_counts_but_only_the_source_says_that_something_is_gone() -> None:
    witness_, heard = witness()
    witness_.saw(znode("/a", 1, b"1"))
    witness_.saw(Missing("/a"))
    assert values(witness_) == [b"1"]
    assert heard.batches == []


def test_a_listing_pushes_out_nothing_and_tells_what_changed_meanwhile() -> None:
    witness_, _ = witness()
    big = bytes(1024 * 1024)
    witness_.take(batch(znode("/a", 1, b"1")))
    witness_.take(batch(*(znode(f"/b{number}", 2, big) for number in range(20)), znode("/a", 3, b"3"), listing=True))
    assert values(witness_) == [b"1", b"3"]
    kept = [number for number in range(20) if witness_.versions(f"/b{number}")]
    assert kept == list(range(TOTAL_BYTES // len(big) - 1)), "the first ones, as far as there was room"


def test_another_cluster_behind_the_name_begins_with_nothing() -> None:
    witness_, _ = witness()
    witness_.take(batch(znode("/a", 50, b"old")))
    witness_.take(batch(znode("/a", 2, b"new"), listing=True, fresh=True))
    assert values(witness_) == [b"new"]


def test_which_broker_had_which_controller_epoch_is_known_from_both_znodes() -> None:
    witness_, _ = witness()
    elected = Znode("/controller", b'{"version":1,"brokerid":3}', Stat(9, 9, 1, 1, 0, 0, 0, 1, 26, 0, 9))
    witness_.take(batch(elected, znode("/controller_epoch", 9, b"4"), listing=True))
    assert witness_.controllers() == {4: 3}

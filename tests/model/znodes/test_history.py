"""Values of znodes as they are remembered: which, in which order, and within which bounds."""

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.texts import HIDDEN
from model.znodes.history import OVERHEAD_BYTES, PATH_BYTES, PATH_VERSIONS, Version, ZnodeHistory

CONTROLLER = "/controller"


def value(mzxid: int, data: bytes = b"", *, version: int = 0, czxid: int = 1) -> Version:
    return Version(1_000 * mzxid, version, mzxid, czxid, data)


def test_values_are_remembered_in_the_order_in_which_they_were_written() -> None:
    history = ZnodeHistory()
    for mzxid in (3, 5, 9):
        history.see(CONTROLLER, value(mzxid, b"%d" % mzxid))
    assert [one.data for one in history.of(CONTROLLER)] == [b"3", b"5", b"9"]
    assert history.of("/controller_epoch") == ()


def test_what_was_seen_before_or_is_older_changes_nothing() -> None:
    history = ZnodeHistory()
    for mzxid in (5, 5, 3):
        history.see(CONTROLLER, value(mzxid, b"%d" % mzxid))
    assert [one.data for one in history.of(CONTROLLER)] == [b"5"]


def test_that_a_znode_is_gone_is_remembered_once_and_only_of_known_ones() -> None:
    history = ZnodeHistory()
    history.miss(CONTROLLER, 7)
    assert history.of(CONTROLLER) == ()
    history.see(CONTROLLER, value(5, b"5"))
    history.miss(CONTROLLER, 8)
    history.miss(CONTROLLER, 9)
    history.see(CONTROLLER, value(12, b"12", czxid=12))
    was, gone, again = history.of(CONTROLLER)
    assert (gone.at_ms, gone.data, gone.mzxid) == (8, None, 5)
    assert not was.is_created and not gone.is_created and again.is_created


def test_a_path_keeps_its_newest_values() -> None:
    history = ZnodeHistory()
    for mzxid in range(1, PATH_VERSIONS + 11):
        history.see(CONTROLLER, value(mzxid))
    assert [one.mzxid for one in history.of(CONTROLLER)] == list(range(11, PATH_VERSIONS + 11))


def test_a_path_keeps_its_newest_bytes_and_the_newest_value_whatever_its_size() -> None:
    history = ZnodeHistory()
    for mzxid in (1, 2, 3):
        history.see(CONTROLLER, value(mzxid, bytes(PATH_BYTES // 2 - OVERHEAD_BYTES)))
    assert [one.mzxid for one in history.of(CONTROLLER)] == [2, 3]
    history.see(CONTROLLER, value(4, bytes(PATH_BYTES)))
    assert [one.mzxid for one in history.of(CONTROLLER)] == [4]


def test_what_changed_longest_ago_makes_room() -> None:
    history = ZnodeHistory(4 * OVERHEAD_BYTES)
    for mzxid, path in enumerate("abaac", 1):
        history.see(f"/{path}", value(mzxid))
    assert [one.mzxid for one in history.of("/a")] == [1, 3, 4]
    assert history.of("/b") == (), "it changed before a did"
    assert [one.mzxid for one in history.of("/c")] == [5]


def test_there_is_room_for_the_next_value_of_what_is_known_and_for_others_as_far_as_it_goes() -> None:
    history = ZnodeHistory(2 * OVERHEAD_BYTES)
    history.see("/a", value(1))
    assert history.has_room("/b", 0)
    assert not history.has_room("/b", 1)
    assert history.has_room("/a", 1)


def test_of_many_paths_only_the_known_ones_are_worth_a_look_once_there_is_no_room() -> None:
    history = ZnodeHistory(2 * OVERHEAD_BYTES)
    assert list(history.worth_seeing(["/b", "/a"])) == [0, 1]
    history.see("/a", value(1))
    history.see("/c", value(1))
    assert list(history.worth_seeing(["/b", "/a"])) == [1]


def test_secrets_are_not_remembered() -> None:
    history = ZnodeHistory()
    history.see("/config/users/ann", value(1, b'{"version":1,"config":{"SCRAM-SHA-256":"salt=abc"}}'))
    (kept,) = history.of("/config/users/ann")
    assert kept.data is not None
    assert HIDDEN.encode() in kept.data and b"abc" not in kept.data


def test_another_cluster_begins_with_nothing() -> None:
    history = ZnodeHistory()
    history.see(CONTROLLER, value(50))
    history.forget()
    assert (history.of(CONTROLLER), history.bytes) == ((), 0)
    history.see(CONTROLLER, value(2))
    assert [one.mzxid for one in history.of(CONTROLLER)] == [2]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 600), st.booleans())), st.integers(0, 3_000))
def test_whatever_happens_the_bounds_hold_and_the_count_is_right(
    news: list[tuple[str, int, bool]], total_bytes: int
) -> None:
    history = ZnodeHistory(total_bytes)
    for mzxid, (path, size, is_gone) in enumerate(news, 1):
        if is_gone:
            history.miss(path, mzxid)
        else:
            history.see(path, value(mzxid, bytes(size)))
        kept = [one for path in "abcd" for one in history.of(path)]
        assert history.bytes == sum(one.size for one in kept) <= total_bytes
        assert all(len(history.of(path)) <= PATH_VERSIONS for path in "abcd")

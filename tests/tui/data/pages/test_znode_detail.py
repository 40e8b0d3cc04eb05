"""Everything about one znode: its payload, its facts, and behind them who writes it and who watches it."""

from model.zookeeper import Stat, Znode
from tests.tui.data.pages.test_znode_history import STATE, state
from tui.engine.cluster.znode_texts import SHOWN_BYTES, znode_detail


def znode(path: str, data: bytes, *, mzxid: int = 5, owner: int = 0) -> Znode:
    return Znode(path, data, Stat(5, mzxid, 1, 1, 0, 0, 0, owner, len(data), 0, 5))


def lines(path: str, data: bytes, view: str = "decoded") -> list[str]:
    answer = znode_detail(path, znode(path, data), view, {})
    return ["".join(text for text, _ in line) for line in answer.lines]


def test_who_writes_and_who_watches_stands_behind_the_facts() -> None:
    for view in ("decoded", "raw"):
        found = lines("/controller_epoch", b"7", view)
        size = next(i for i, text in enumerate(found) if text.startswith("size "))
        assert found[size + 1] == ""
        assert found[size + 2].startswith("who writes it   The broker that wins the election")
        assert found[size + 3].startswith("who watches it  Nobody from 0.8.2 on.")
        assert len(found) == size + 4


def test_the_last_write_of_a_state_is_told_where_the_values_so_far_prove_it() -> None:
    before, after = state(0, 1, 4, "1,2,3"), state(1, 1, 4, "1,2")
    assert before.data is not None and after.data is not None
    now = znode(STATE, after.data, mzxid=after.mzxid)
    told = znode_detail(STATE, now, "decoded", {}, (before, after)).lines[-1]
    assert told[0] == ("last write      ", "dim") and told[1][0].startswith("The ISR is as leader 1 wants it")
    older = znode(STATE, after.data, mzxid=after.mzxid + 1)
    assert znode_detail(STATE, older, "decoded", {}, (before, after)).lines[-1][0][0] == "who watches it  "


def test_what_is_cut_says_so_in_ascii() -> None:
    found = lines("/foreign", b"x" * (SHOWN_BYTES + 1_234))
    assert "(1,234 bytes more)" in found
    assert all(text.isascii() for text in found)

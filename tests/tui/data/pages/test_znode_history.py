"""The history of a znode as text: newest first, what differs, what was not seen, and what stays hidden."""

from model.znodes.history import Version, ZnodeHistory
from tui.engine.cluster.znode_texts import MOST_CHARACTERS, MOST_DIFFERENCES, znode_history

AT_MS = 1_700_000_000_000
STATE = "/brokers/topics/orders/partitions/0/state"


def state(version: int, leader: int, epoch: int, isr: str) -> Version:
    text = f'{{"controller_epoch":7,"leader":{leader},"version":1,"leader_epoch":{epoch},"isr":[{isr}]}}'
    return Version(AT_MS + version, version, 0x10 + version, 0x10, text.encode())


def told(path: str, *versions: Version, width: int = 78) -> list[str]:
    return znode_history(path, versions, width).plain.split("\n")


def test_values_stand_newest_first_with_what_differs_and_who_did_it() -> None:
    lines = told(STATE, state(0, 1, 4, "1,2,3"), state(1, 2, 5, "2,3"), state(2, 2, 5, "2,3,1"))
    assert lines[:3] == [
        "2023-11-14 22:13:20.002Z  v2  mzxid=0x12",
        "isr 2,3 -> 2,3,1",
        "The ISR is as leader 2 wants it: leader_epoch stayed. Before",
    ]
    second = lines.index("2023-11-14 22:13:20.001Z  v1  mzxid=0x11")
    assert lines[second + 1 : second + 4] == ["leader 1 -> 2", "leader_epoch 4 -> 5", "isr 1,2,3 -> 2,3"]
    first = lines.index("2023-11-14 22:13:20.000Z  v0  mzxid=0x10")
    assert first > second
    assert lines[first + 1] == "created"
    assert lines[first + 2].startswith('{"controller_epoch":7,"leader":1,')


def test_writes_that_were_missed_are_counted_and_nobody_is_said_to_have_made_them() -> None:
    lines = told(STATE, state(3, 1, 4, "1,2,3"), state(9, 2, 6, "2"))
    assert "5 writes in between not seen" in lines
    assert "the oldest value remembered" in lines
    assert not any("wrote this" in text for text in lines)


def test_a_deletion_stands_between_and_what_comes_after_is_compared_with_what_was_before() -> None:
    history = ZnodeHistory()
    history.see("/controller", Version(AT_MS, 0, 1, 1, b'{"version":1,"brokerid":1}'))
    history.miss("/controller", AT_MS + 1)
    history.see("/controller", Version(AT_MS + 2, 0, 9, 9, b'{"version":1,"brokerid":2}'))
    lines = told("/controller", *history.of("/controller"))
    assert lines[1:3] == ["created anew; against the value before:", "brokerid 1 -> 2"]
    assert "2023-11-14 22:13:20.001Z  gone, noticed then" in lines


def test_what_is_hidden_stays_hidden_and_that_it_was_written_is_told() -> None:
    history = ZnodeHistory()
    for number in (1, 2):
        secret = b'{"version":1,"config":{"SCRAM-SHA-256":"salt=%d"}}' % number
        history.see("/config/users/ann", Version(AT_MS, number, number, 1, secret))
    text = znode_history("/config/users/ann", history.of("/config/users/ann"), 78).plain
    assert "written; no difference that may be shown" in text
    assert "[hidden]" in text and "salt" not in text
    lines = told("/controller_epoch", Version(AT_MS, 1, 1, 1, b"7"), Version(AT_MS, 2, 2, 1, b"7"))
    assert "the same value, written again" in lines


def test_long_differences_and_long_values_are_cut_and_it_is_said() -> None:
    many = ",".join(f'"k{number}":1' for number in range(MOST_DIFFERENCES + 3))
    long = b'{"a":"' + b"x" * (MOST_CHARACTERS + 10) + b'"}'
    lines = told("/a", Version(AT_MS, 1, 1, 1, long), Version(AT_MS, 2, 2, 1, b"{%s}" % many.encode()))
    assert "4 differences more" in lines, "the new fields, and the old one that is gone"
    assert any("(18 characters more)" in text for text in lines)


def test_the_bounds_are_stated_and_a_narrow_pane_is_enough() -> None:
    lines = told("/a", width=37)
    assert lines[0] == "no value of it is remembered"
    assert "up to 64 of a znode, and 16 MiB of all znodes" in " ".join(lines)
    header, *others = told(STATE, state(0, 1, 4, "1,2"), width=37)
    assert header.isascii() and all(len(text) <= 37 and text.isascii() for text in others)

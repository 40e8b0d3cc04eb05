"""Who wrote a partition's state: said where two states in a row prove it, and nowhere else."""

import pytest

from model.znodes.history import Version, controllers_of, state_writer

PATH = "/brokers/topics/orders/partitions/0/state"


def state(
    version: int, leader: int = 1, epoch: int = 4, isr: str = "1,2,3", recovery: int = 0, czxid: int = 1
) -> Version:
    text = (
        f'{{"controller_epoch":7,"leader":{leader},"version":1,"leader_recovery_state":{recovery},'
        f'"leader_epoch":{epoch},"isr":[{isr}]}}'
    )
    return Version(0, version, czxid + version, czxid, text.encode())


FIRST = state(5)
SAID = {
    "an election": (state(6, leader=2, epoch=5, isr="2,3"), "controller of epoch 7 wrote this: only controllers raise"),
    "a replica went offline": (state(6, epoch=5, isr="1,2"), "controller of epoch 7 wrote this"),
    "an ISR that shrank": (state(6, isr="1,2"), "as leader 1 wants it"),
    "an ISR in another order": (state(6, isr="1,3,2"), "as leader 1 wants it"),
}
NOT_SAID = {
    "one was missed": state(7, isr="1,2"),
    "nothing differs": state(6),
    "another leader in the same epoch": state(6, leader=2),
    "no leader": state(6, leader=-1, isr="1"),
    "an epoch that went back": state(6, epoch=3),
    "of another znode": state(6, isr="1,2", czxid=90),
    "gone": Version(0, 5, 6, 1, None),
    "unreadable": Version(0, 6, 7, 1, b"{"),
}


@pytest.mark.parametrize("name", SAID)
def test_what_two_states_in_a_row_prove_is_said(name: str) -> None:
    after, expected = SAID[name]
    assert expected in state_writer(PATH, FIRST, after)


@pytest.mark.parametrize("name", NOT_SAID)
def test_what_they_do_not_prove_is_not_said(name: str) -> None:
    assert state_writer(PATH, FIRST, NOT_SAID[name]) == ""


def test_only_controllers_make_states() -> None:
    assert "controller of epoch 7" in state_writer(PATH, None, state(0))
    assert "controller of epoch 7" in state_writer(PATH, FIRST, state(0, czxid=90))
    assert state_writer(PATH, None, FIRST) == "", "who wrote what was there before is not known"


def test_a_leader_that_recovered_says_so() -> None:
    assert "Leader 1 told" in state_writer(PATH, state(5, recovery=1), state(6))


def test_nothing_is_said_of_other_znodes() -> None:
    assert state_writer("/controller_epoch", None, Version(0, 0, 1, 1, b"1")) == ""


def test_the_controllers_broker_is_named_where_its_election_was_seen() -> None:
    def elected(broker: int, zxid: int) -> Version:
        return Version(0, 0, zxid, zxid, b'{"version":1,"brokerid":%d}' % broker)

    epochs = [Version(0, epoch, zxid, 1, b"%d" % epoch) for epoch, zxid in ((6, 40), (7, 50), (8, 60))]
    gone = Version(0, 0, 50, 50, None)
    known = controllers_of([elected(1, 50), gone, elected(2, 59)], epochs)
    assert known == {7: 1}, "before 2.1 the two were written one after the other, and nothing is certain"
    assert "epoch 7 (broker 1) wrote" in state_writer(PATH, FIRST, state(6, epoch=5), known)
    assert "epoch 7 wrote" in state_writer(PATH, FIRST, state(6, epoch=5), {8: 1})

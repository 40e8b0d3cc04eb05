"""`decide` itself, without a host: what the controller hears, what it asks, and why."""

from __future__ import annotations

import msgspec
import pytest

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.context import Activity
from model.controller.decide import ControllerState, decide, new_controller
from model.controller.events_and_commands import (
    AnswerRequest,
    AskZooKeeper,
    Command,
    Event,
    LeaderAndIsrRequest,
    SendRequest,
    ZooKeeperAnswered,
)
from model.controller.generations import ControllerSettings, generation_of
from model.controller.steps.broker_requests import tell
from model.znodes.cluster import ControllerEpoch, ControllerRegistration
from model.znodes.topics import LeaderIsrAndControllerEpoch
from model.zookeeper import Answer, Code, Stat
from tests.harness.virtual_cluster import VirtualCluster, registration
from tests.model.controller.trace_scenarios import create_topic
from tests.model.controller.transaction_text import words_of

NOBODY = Answer(Code.NO_NODE)
DONE = Answer(stat=Stat(version=0))


class Playbook:
    """A controller that is told things one by one; `commands` and `reasons` are those of the newest decision."""

    def __init__(self, state: ControllerState) -> None:
        self.state = state
        self.commands: tuple[Command, ...] = ()
        self.reasons: tuple[str, ...] = ()

    def hears(self, event: Event) -> Playbook:
        """Something happened."""
        decision = decide(self.state, event)
        self.state, self.commands, self.reasons = decision.state, decision.commands, decision.reasons
        return self

    def answers(self, *answers: Answer) -> Playbook:
        """ZooKeeper answers the open question."""
        assert self.state.waiting is not None
        question, now_ms = self.state.waiting.question, self.state.context.now_ms
        return self.hears(ZooKeeperAnswered(question=question, answers=answers, at_ms=now_ms))

    @property
    def asks(self) -> list[str]:
        """The open question, a line for each request."""
        found = [command for command in self.commands if isinstance(command, AskZooKeeper)]
        assert len(found) == 1
        return [words_of(request) for request in found[0].requests]


def ruling() -> tuple[VirtualCluster, Playbook]:
    """A cluster of three brokers with a topic, and its controller, taken out of it."""
    cluster = VirtualCluster()
    for broker in (0, 1, 2):
        cluster.start(broker)
    create_topic(cluster, "t", (1, 2))
    return cluster, Playbook(cluster.nodes[0].controller)


def state_of(leader: int, isr: tuple[int, ...], epoch: int = 0, controller_epoch: int = 1) -> bytes:
    return LeaderIsrAndControllerEpoch(
        controller_epoch=controller_epoch, leader=leader, leader_epoch=epoch, isr=isr
    ).to_bytes()


def test_a_vacant_office_is_claimed_in_one_transaction_with_the_epoch() -> None:
    book = Playbook(new_controller(ControllerSettings(broker_id=7, generation=generation_of("3.9"))))
    book.hears(events_and_commands.ControllerZnodeDeleted(at_ms=1234))
    assert book.asks == ["exists /controller and watch", "read /controller"]
    book.answers(NOBODY, NOBODY)
    assert book.asks == ["read /controller", "read /controller_epoch"]
    book.answers(NOBODY, Answer(data=b"4", stat=Stat(version=9)))
    assert book.asks == [
        'multi{create[E] /controller {"version":2,"brokerid":7,"timestamp":"1234","kraftControllerEpoch":-1} ; '
        "set /controller_epoch v10 5}"
    ]
    book.answers(Answer(parts=(DONE, Answer(stat=Stat(version=10)))))
    assert book.asks == ["read /feature"]
    assert book.reasons == ("Broker 7 is the controller: it created /controller and raised the epoch to 5.",)
    assert (book.state.context.epoch, book.state.context.epoch_version) == (5, 10)


def test_who_loses_the_election_stays_out() -> None:
    book = Playbook(new_controller(ControllerSettings(broker_id=7)))
    book.hears(events_and_commands.ControllerZnodeDeleted())
    book.answers(NOBODY, NOBODY).answers(NOBODY, Answer(data=b"4", stat=Stat(version=9)))
    book.answers(Answer(Code.NODE_EXISTS, parts=(Answer(Code.NODE_EXISTS), Answer(Code.RUNTIME_INCONSISTENCY))))
    winner = Answer(data=ControllerRegistration(broker_id=8).to_bytes())
    book.answers(DONE, winner, Answer(data=ControllerEpoch(5).to_bytes(), stat=Stat(version=10)))
    assert book.reasons == ("Broker 8 was elected controller before broker 7.",)
    assert book.state.context.activity is Activity.INACTIVE
    assert book.state.idle


def test_a_claim_whose_answer_got_lost_is_recognised() -> None:
    book = Playbook(new_controller(ControllerSettings(broker_id=7)))
    book.hears(events_and_commands.ControllerZnodeDeleted())
    book.answers(NOBODY, NOBODY).answers(NOBODY, Answer(data=b"4", stat=Stat(version=9)))
    book.answers(Answer(Code.NODE_EXISTS, parts=(Answer(Code.NODE_EXISTS), Answer(Code.RUNTIME_INCONSISTENCY))))
    me = Answer(data=ControllerRegistration(broker_id=7).to_bytes())
    book.answers(DONE, me, Answer(data=b"5", stat=Stat(version=10)))
    assert book.state.context.active
    assert book.state.context.epoch_version == 10


def test_an_epoch_that_is_no_number_keeps_everybody_out_of_office() -> None:
    book = Playbook(new_controller(ControllerSettings(broker_id=7)))
    book.hears(events_and_commands.ControllerZnodeDeleted())
    book.answers(NOBODY, NOBODY).answers(NOBODY, Answer(data=b"\xff", stat=Stat(version=9)))
    assert book.state.idle
    assert book.reasons == ("/controller_epoch holds no number: nobody can be elected until an operator repairs it.",)


def test_while_zookeeper_is_asked_events_wait_in_line() -> None:
    _, book = ruling()
    book.hears(events_and_commands.BrokersChanged())
    question = book.asks
    book.hears(events_and_commands.TopicsChanged())
    assert book.commands == ()
    assert book.state.pending == (events_and_commands.TopicsChanged(),)
    assert question == ["children /brokers/ids and watch"]


def test_an_answer_to_no_question_changes_nothing() -> None:
    _, book = ruling()
    before = book.state
    book.hears(ZooKeeperAnswered(question=0, answers=(NOBODY,), at_ms=before.context.now_ms))
    assert book.state == before
    assert book.commands == ()


def test_a_write_that_is_fenced_ends_in_resignation() -> None:
    _, book = ruling()
    book.hears(events_and_commands.ControlledShutdownRequested(request=6, broker=1))
    assert book.asks == ["read /brokers/topics/t/partitions/0/state"]
    book.answers(Answer(data=state_of(1, (1, 2)), stat=Stat(version=0)))
    assert book.asks == [
        "multi{check /controller_epoch v2 ; set /brokers/topics/t/partitions/0/state v1 "
        '{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":1,"isr":[2]}}'
    ]
    book.answers(Answer(Code.BAD_VERSION, parts=(Answer(Code.BAD_VERSION), Answer(Code.RUNTIME_INCONSISTENCY))))
    assert AnswerRequest(6, "NOT_CONTROLLER") in book.commands
    assert book.asks == ["exists /controller and watch", "read /controller"]
    book.answers(DONE, Answer(data=ControllerRegistration(broker_id=2).to_bytes()))
    assert book.reasons == ("Broker 0 is not the controller any more (epoch 1) and resigns.",)
    assert not book.state.context.topics.by_name


def test_a_state_that_somebody_changed_is_read_and_decided_again() -> None:
    _, book = ruling()
    book.hears(events_and_commands.ControlledShutdownRequested(request=6, broker=1))
    book.answers(Answer(data=state_of(1, (1, 2)), stat=Stat(version=0)))
    book.answers(Answer(Code.BAD_VERSION, parts=(DONE, Answer(Code.BAD_VERSION))))
    assert book.asks == ["read /brokers/topics/t/partitions/0/state"]
    book.answers(Answer(data=state_of(1, (1,)), stat=Stat(version=1)))
    assert "nobody in the ISR 1 can take over" in book.reasons[0]
    assert [outcome.partition for outcome in _answer(book, 6).partitions] == [("t", 0)]


def test_a_state_of_a_newer_controller_is_left_alone() -> None:
    _, book = ruling()
    book.hears(events_and_commands.ControlledShutdownRequested(request=6, broker=1))
    book.answers(Answer(data=state_of(1, (1, 2), controller_epoch=2), stat=Stat(version=1)))
    assert book.reasons[0] == "No election for t-0 (controller epoch 2 wrote it, a newer one)."


def test_nobody_hears_of_a_reassignment_whose_leader_epoch_could_not_be_written() -> None:
    _, book = ruling()
    book.hears(events_and_commands.ReassignmentsRequested(request=6, targets=((TopicPartition("t", 0), (2, 0)),)))
    book.answers(NOBODY, NOBODY).answers(Answer(parts=(DONE, DONE)))
    state = Answer(data=state_of(1, (1, 2)), stat=Stat(version=0))
    book.answers(state).answers(state)
    assert "set /brokers/topics/t/partitions/0/state" in book.asks[0]
    book.answers(Answer(Code.NO_NODE, parts=(DONE, NOBODY)))
    assert "t-0: no new leader epoch, its state could not be written." in book.reasons
    epochs = [
        entry.state.leader_epoch
        for command in book.commands
        if isinstance(command, SendRequest) and isinstance(command.request, LeaderAndIsrRequest)
        for entry in command.request.partitions
    ]
    assert set(epochs) <= {0}


def test_a_lost_session_empties_the_queue_and_answers_who_waits() -> None:
    _, book = ruling()
    book.hears(events_and_commands.ControlledShutdownRequested(request=6, broker=1))
    book.hears(events_and_commands.ControlledShutdownRequested(request=7, broker=2))
    book.hears(events_and_commands.SessionExpired())
    assert book.commands == (AnswerRequest(7, "NOT_CONTROLLER"),)
    book.answers(Answer(Code.SESSION_EXPIRED))
    assert AnswerRequest(6, "NOT_CONTROLLER") in book.commands
    assert not any(isinstance(command, AskZooKeeper | SendRequest) for command in book.commands)
    assert book.state.context.activity is Activity.INACTIVE
    assert book.state.idle


def test_a_new_session_registers_the_broker_before_it_stands_for_election() -> None:
    book = Playbook(new_controller(ControllerSettings(broker_id=1)))
    book.hears(events_and_commands.SessionEstablished(registration=registration(1), previous_session=99))
    exists = Answer(Code.NODE_EXISTS, parts=(Answer(Code.NODE_EXISTS), Answer(Code.RUNTIME_INCONSISTENCY)))
    book.answers(exists, Answer(stat=Stat(ephemeral_owner=99)))
    assert book.asks == ["delete /brokers/ids/1"]
    book.answers(DONE).answers(Answer(parts=(DONE, DONE)), Answer(stat=Stat(czxid=40, ephemeral_owner=100)))
    assert book.reasons == ("Broker 1 is registered with broker epoch 40.",)
    assert book.asks == ["exists /controller and watch", "read /controller"]


def test_an_id_that_another_broker_holds_is_not_taken_away() -> None:
    book = Playbook(new_controller(ControllerSettings(broker_id=1)))
    book.hears(events_and_commands.SessionEstablished(registration=registration(1), previous_session=99))
    exists = Answer(Code.NODE_EXISTS, parts=(Answer(Code.NODE_EXISTS), Answer(Code.RUNTIME_INCONSISTENCY)))
    book.answers(exists, Answer(stat=Stat(ephemeral_owner=7)))
    assert book.state.idle
    assert book.reasons == ("Another broker is registered under id 1: this one stays out.",)


@pytest.mark.parametrize(
    "event",
    [
        events_and_commands.ElectionRequested(request=3, partitions=()),
        events_and_commands.ReassignmentsRequested(request=3, targets=()),
        events_and_commands.ControlledShutdownRequested(request=3, broker=1),
        events_and_commands.AlterPartitionReceived(request=3, broker=1, broker_epoch=1, proposals=()),
        events_and_commands.ReassignmentListRequested(request=3),
        events_and_commands.ProducerIdsRequested(request=3, broker=1, broker_epoch=1),
        events_and_commands.FeatureUpdatesRequested(request=3, updates=()),
    ],
)
def test_who_is_not_the_controller_says_so(event: Event) -> None:
    book = Playbook(new_controller(ControllerSettings(broker_id=1))).hears(event)
    assert book.commands == (AnswerRequest(3, "NOT_CONTROLLER"),)


def test_requests_go_out_as_leader_and_isr_then_metadata_then_stop_replica_one_batch_a_broker() -> None:
    cluster, _ = ruling()
    mark = len(cluster.sent)
    cluster.kill(1)
    election, isr = ["LeaderAndIsr", "UpdateMetadata"], ["LeaderAndIsr", "UpdateMetadata"]
    assert [line.split()[-1] for line in cluster.sent[mark:] if line.startswith("0 to 2")] == election + isr
    assert [line.split()[-1] for line in cluster.sent[mark:] if line.startswith("0 to 0")] == ["UpdateMetadata"] * 2


def _answer(book: Playbook, request: int) -> AnswerRequest:
    found = [each for each in book.commands if isinstance(each, AnswerRequest) and each.request == request]
    assert len(found) == 1
    return found[0]


def test_requests_that_were_never_sent_end_the_office_and_another_epoch_begins() -> None:
    """ControllerFailoverTest: an illegal state of the batch."""
    cluster, book = ruling()
    context = book.state.context
    book.state = msgspec.structs.replace(book.state, context=tell(context, [TopicPartition("t", 0)]))
    book.hears(events_and_commands.ControlledShutdownRequested(request=6, broker=1))
    assert book.commands[0] == AnswerRequest(6, "NOT_CONTROLLER")
    assert book.asks == ["read /controller"]
    book.answers(Answer(data=ControllerRegistration(broker_id=0).to_bytes()))
    assert not book.state.context.active
    assert book.asks == ["multi{check /controller_epoch v2 ; delete /controller}"]
    book.answers(Answer(parts=(DONE, DONE)))
    assert book.state.idle
    assert cluster.nodes[0].controller.context.epoch == 1
    book.hears(events_and_commands.ControllerZnodeDeleted())
    book.answers(NOBODY, NOBODY).answers(NOBODY, Answer(data=b"1", stat=Stat(version=1)))
    book.answers(Answer(parts=(DONE, Answer(stat=Stat(version=2)))))
    assert book.state.context.epoch == 2


def test_whose_office_has_passed_on_already_only_resigns() -> None:
    _, book = ruling()
    book.state = msgspec.structs.replace(book.state, context=tell(book.state.context, [TopicPartition("t", 0)]))
    book.hears(events_and_commands.BrokersChanged())
    book.answers(Answer(data=ControllerRegistration(broker_id=2).to_bytes()))
    assert book.asks == ["exists /controller and watch", "read /controller"]
    book.answers(DONE, Answer(data=ControllerRegistration(broker_id=2).to_bytes()))
    assert not book.state.context.active


def test_a_new_controller_that_cannot_see_the_brokers_does_not_take_them_for_dead() -> None:
    book = Playbook(new_controller(ControllerSettings(broker_id=7)))
    book.hears(events_and_commands.ControllerZnodeDeleted())
    book.answers(NOBODY, NOBODY).answers(NOBODY, Answer(data=b"4", stat=Stat(version=9)))
    book.answers(Answer(parts=(DONE, Answer(stat=Stat(version=10))))).answers(
        Answer(data=b'{"features":{},"version":2,"status":1}')
    )
    book.answers(NOBODY, NOBODY).answers(DONE).answers(DONE)
    assert book.asks == ["children /brokers/ids and watch"]
    book.answers(Answer(Code.OTHER))
    assert book.reasons == ("ZooKeeper refused to show what a new controller has to know: it resigns.",)
    assert book.asks == ["read /controller"]
    book.answers(Answer(data=ControllerRegistration(broker_id=7).to_bytes()))
    assert book.asks == ["multi{check /controller_epoch v11 ; delete /controller}"]
    assert not book.state.context.active

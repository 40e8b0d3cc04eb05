"""Carries out what was decided about partitions, in order. Kafka 3.9 does it in `Partition` and `ReplicaManager`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from model.broker.commands import (
    AssignTopicId,
    Command,
    DeleteLog,
    ProposeIsr,
    RestartLog,
    StartFetching,
    StartLeaderEpoch,
    StopFetching,
    TruncateLog,
)
from model.broker.decision import PartitionDecision
from model.broker.replication.fetch_state import FetchState
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas


@dataclass(frozen=True)
class Doing:
    """Who does what is no work on a log."""

    start_fetching: Callable[[FetchState], None]
    stop_fetching: Callable[[TopicPartition], None]
    propose: Callable[[ProposeIsr], None]
    disk_failed: Callable[[TopicPartition, OSError], None]
    """The partition is offline by then."""


class CommandRunner:
    """A command for a log that is gone meanwhile, with its dir or its topic, does nothing. Logs are made elsewhere."""

    def __init__(self, held: HeldReplicas, doing: Doing) -> None:
        self._held = held
        self._doing = doing

    def apply(self, decision: PartitionDecision) -> None:
        """The partition as decided, then the commands."""
        self._held.put(decision.partition)
        self.run_all(decision.commands)
        self._held.tell_reasons(decision.reasons)

    def run_all(self, commands: Iterable[Command]) -> None:
        """Carry out commands."""
        for command in commands:
            self.run(command)

    def run(self, command: Command) -> None:
        """Carry out one command."""
        name = command.partition
        match command:
            case StartFetching():
                if name in self._held.partitions:
                    self._doing.start_fetching(command.state)
            case StopFetching():
                self._doing.stop_fetching(name)
            case ProposeIsr():
                self._doing.propose(command)
            case _:
                try:
                    self._work_on_log(command)
                except OSError as error:
                    self._doing.disk_failed(name, error)

    def _work_on_log(self, command: Command) -> None:
        held, name = self._held, command.partition
        now_ms = held.now_ms()
        if isinstance(command, DeleteLog):
            held.log_dirs.delete(name, now_ms)
            return
        log = held.log(name)
        if log is None:
            return
        match command:
            case AssignTopicId():
                held.log_dirs.assign_topic_id(name, command.topic_id)
            case StartLeaderEpoch():
                log.assign_epoch(command.leader_epoch, command.start_offset)
            case TruncateLog():
                log.truncate_to(command.end_offset, now_ms=now_ms)
                held.log_was_cut(name)
            case RestartLog():
                log.truncate_fully_and_start_at(command.start_offset, now_ms=now_ms)
                held.log_was_cut(name)
            case _:
                raise TypeError(f"nobody does {command}")

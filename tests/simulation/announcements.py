"""What leaders were told of their replicas, and where a controller died before it told them: it writes the topic first,
and then raises the leader epoch, for a leader believes another list of replicas only under a higher one.

Source: `KafkaController.onPartitionReassignment`, `updateCurrentReassignment`, `updateLeaderEpochAndSendRequest`.
"""

from __future__ import annotations

from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import LeaderAndIsrRequest
from model.hosts.virtual.journal import RequestServed, WritePart
from model.znodes.topics import TopicAssignment, decode_topic


class Announcements:
    """Of all partitions, as far as the journal has been read."""

    def __init__(self) -> None:
        self._told: dict[TopicPartition, tuple[int, frozenset[int]]] = {}
        """The leader epoch that a leader serves, and the replicas that came with it."""
        self._assignments: dict[str, TopicAssignment] = {}
        self._due: TopicPartition | None = None
        """What the controller is about to raise the leader epoch of: nothing else was written since its topic was."""
        self._never: set[TopicPartition] = set()

    def outdated(self, name: TopicPartition, leader_epoch: int) -> frozenset[int]:
        """The replicas that a leader goes by, if the controller died that was about to tell it of others."""
        epoch, replicas = self._told.get(name, (leader_epoch, frozenset[int]()))
        return replicas if name in self._never and epoch == leader_epoch else frozenset()

    def is_led(self, name: TopicPartition) -> bool:
        """Whether a broker has ever agreed to lead it."""
        return name in self._told

    def topic_written(self, topic: str, write: WritePart, *, by_controller: bool) -> None:
        """Its assignment is another one, or it is gone."""
        before = self._assignments.pop(topic, None)
        after = None if write.verb == "delete" else decode_topic(write.data)
        if after is not None:
            self._assignments[topic] = after
        if by_controller:
            self._due = None if before is None or after is None else _moved(topic, before, after)

    def state_written(self, name: TopicPartition, leader_epoch: int) -> None:
        """By a controller."""
        is_raised = name not in self._told or leader_epoch > self._told[name][0]
        if name != self._due or is_raised:
            self._due = None
        if is_raised:
            self._never.discard(name)

    def office_changed(self) -> None:
        """What the controller before had not announced, it never will."""
        if self._due is not None:
            self._never.add(self._due)
        self._due = None

    def served(self, record: RequestServed) -> None:
        """A broker did what it was told, or refused."""
        if not isinstance(record.request, LeaderAndIsrRequest) or record.answer.error != "NONE":
            return
        refused = dict(record.answer.partition_errors)
        for entry in record.request.partitions:
            if entry.state.leader == record.receiver and entry.partition not in refused:
                self._told[entry.partition] = (entry.state.leader_epoch, frozenset(entry.assignment.replicas))

    def forget(self, name: TopicPartition) -> None:
        """Its topic is deleted."""
        self._told.pop(name, None)
        self._never.discard(name)


def _moved(topic: str, before: TopicAssignment, after: TopicAssignment) -> TopicPartition | None:
    """The partition that has got other replicas: controllers move one at a time."""
    for number, replicas in after.partitions.items():
        if set(before.partitions.get(number, ())) != set(replicas):
            return TopicPartition(topic, number)
    return None

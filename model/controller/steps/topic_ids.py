"""Topics that have no id get one, in their znode and in memory.

Source: `KafkaController.processTopicIds`, `KafkaZkClient.setTopicIds` (3.9); KIP-516 (2.8).
"""

import msgspec

from model.cluster.words import counted, listed
from model.controller.context import ControllerContext
from model.controller.step import Outcome, Step
from model.controller.steps.assignments import encode_assignments
from model.controller.steps.fencing import fence
from model.controller.topic_ids import new_topic_id
from model.controller.zookeeper import Answer, SetData
from model.znodes.paths import topic_path

TOPIC_IDS_FROM = 3
"""The first payload version of a topic's znode that has an id."""


class AssignTopicIds(Step, frozen=True):
    """Draw an id for each of these topics and write it."""

    topics: tuple[str, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        seed, now_ms = context.settings.seed, context.now_ms
        return Outcome(context, then=(WriteTopicIds(tuple((t, new_topic_id(seed, now_ms, t)) for t in self.topics)),))


class WriteTopicIds(Step, frozen=True):
    """Write each assignment with the id; only what was written is remembered."""

    ids: tuple[tuple[str, str], ...]

    def begin(self, context: ControllerContext) -> Outcome:
        version = context.settings.forms.topic_version
        writes: list[SetData] = []
        for topic, topic_id in self.ids:
            assignments = {name.partition: known.assignment for name, known in context.topics.of_topic(topic)}
            writes.append(SetData(topic_path(topic), encode_assignments(topic_id, assignments, version)))
        return Outcome(context, ask=fence(context, writes))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        known = context.topics.by_name
        written = {
            topic: msgspec.structs.replace(known[topic], topic_id=topic_id)
            for (topic, topic_id), answer in zip(self.ids, answers, strict=True)
            if answer.ok and topic in known
        }
        why = f"{counted(len(written), 'topic')} had no id and got one: {listed(written)}." if written else ""
        return Outcome(context.replace(topics=context.topics.with_topics(written)), why=why)

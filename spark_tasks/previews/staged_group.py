"""One group among the staged arrays. Copies nothing and decides nothing."""

from collections.abc import Mapping
from itertools import pairwise
from typing import cast

import numpy as np

from model.consumers.assignors.group import Ints
from model.consumers.assignors.java_hashing import Hashes
from spark_tasks.analysis import Arrays


class StagedGroup:
    """A view of what is staged of one group; see `staging` on how it stands there."""

    def __init__(self, arrays: Arrays, number: int) -> None:
        self._arrays = cast(Mapping[str, Ints], arrays)
        self.number = number
        self.topics: Ints = self._part("group_topics", "group_topic_starts")  # as numbered over all groups
        self.lag: Ints = self._part("lag", "partition_starts")  # [P] records
        self.counts: Ints = self._arrays["topic_partitions"][self.topics].astype(np.int64)  # [T] partitions
        self.topic_hashes: Hashes = self._arrays["topic_hashes"][self.topics].astype(np.uint32, copy=False)
        self.subscription_of: Ints = self._part("member_subscription", "member_starts")
        self.consumer_of: Ints = self._part("member_consumer", "member_starts")
        self.hashes: Hashes = self._part("member_hashes", "member_starts").astype(np.uint32, copy=False)
        self.ring: Ints = self._part("member_ring", "member_starts")
        self.claim_counts: Ints = self._part("claim_counts", "member_starts")
        self.claims: Ints = self._part("claims", "claim_starts")

    def _part(self, name: str, starts: str) -> Ints:
        begin, end = self._arrays[starts][self.number : self.number + 2].tolist()
        return self._arrays[name][begin:end]

    @property
    def members(self) -> int:
        """How many members there are."""
        return len(self.consumer_of)

    @property
    def consumers(self) -> int:
        """How many consumers there are."""
        return int(self._arrays["consumers"][self.number])

    @property
    def is_zookeeper(self) -> bool:
        """Whether its members register in ZooKeeper."""
        return bool(self._arrays["zookeeper"][self.number])

    def subscriptions(self) -> list[Ints]:
        """The different lists of topics, by number within the group."""
        begin, end = self._arrays["subscription_starts"][self.number : self.number + 2].tolist()
        bounds = self._arrays["subscription_topic_starts"][begin : end + 1].tolist()
        topics = self._arrays["subscription_topics"]
        return [topics[start:stop] for start, stop in pairwise(bounds)]

    def id_hashes(self, topics: Ints) -> Hashes:
        """uint32[N]: hashes of the ids of topics, which are numbered as over all groups."""
        return self._arrays["topic_id_hashes"][topics].astype(np.uint32, copy=False)

    def topic_names(self, topics: Ints) -> list[str]:
        """Their names: round-robin of ZooKeeper consumers goes by the hashes of these."""
        starts, written = self._arrays["topic_name_starts"], self._arrays["topic_name_bytes"]
        return [
            written[starts[topic] : starts[topic + 1]].tobytes().decode("utf-8", "surrogatepass")
            for topic in topics.tolist()
        ]

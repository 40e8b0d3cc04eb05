"""Which release's rules a cluster's controllers go by and how they are set, as far as an image can tell."""

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.controller.generations import LATEST, Generation, generation_of
from model.controller.settings import Settings, default_settings

UNCLEAN_KEY = "unclean.leader.election.enable"


def rules_of(image: ClusterImage) -> Generation:
    """The rules of the newest release that the cluster's payloads could be of."""
    if image.generation == "2.x" and any(topic.topic_id is not None for topic in image.topics.values()):
        return generation_of("2.8")
    release = {"0.8": "0.8.2", "0.9-1.x": "1.1", "2.x": "2.6"}.get(image.generation)
    return LATEST if release is None else generation_of(release)


def settings_of(image: ClusterImage, broker: int, *, unclean: bool | None = None) -> Settings:
    """A controller's settings: what is set for all brokers, else Kafka's defaults; no leaders go back by themselves.

    unclean: whether a leader may be elected that is not in sync; None: as the cluster has it.
    """
    settings = default_settings(broker, rules_of(image), auto_leader_rebalance_enable=False)
    if unclean is None:
        default = image.configs.get("brokers/<default>", {}).get(UNCLEAN_KEY)
        unclean = settings.unclean_leader_election_enable if default is None else default.strip().lower() == "true"
    return msgspec.structs.replace(settings, unclean_leader_election_enable=unclean)

"""Writing what is set on an entity: its znode, and the notification by which brokers learn of it.

Source: `kafka.admin.AdminUtils.changeTopicConfig` (0.8.2), `AdminZkClient.changeEntityConfig` (1.1 to 3.9).
"""

from collections.abc import Mapping

from model.actions.found import Found, create, put
from model.actions.proposal import ActionRefused, ZnodeWrite
from model.cluster.cluster_image import ClusterImage
from model.znodes.catalogue import ZnodeKind
from model.znodes.configs import BARE_TOPIC, ConfigChange, EntityConfig, decode_config
from model.znodes.paths import config_path, sequential_path
from model.znodes.reasons import UnusablePayloadError


def config_in(found: Found, entity: str) -> EntityConfig:
    """What is set on an entity such as `topics/orders`; nothing where there is no znode.

    Raises ActionRefused where its payload cannot be read.
    """
    path = config_path(entity)
    znode = found.get(path)
    if znode is None or not znode.data:
        return EntityConfig()
    try:
        return decode_config(znode.data)
    except UnusablePayloadError as error:
        raise ActionRefused(f"{path} {error}: mend it before it is written over") from None


def config_steps(
    image: ClusterImage, found: Found, entity: str, after: Mapping[str, str]
) -> tuple[ZnodeWrite, ZnodeWrite]:
    """What it takes to set an entity to `after`; `found` has to know of `/config/ENTITY`."""
    kept = config_in(found, entity)
    payload = EntityConfig(version=kept.version, config=after, extra=kept.extra).to_bytes()
    notice = create(sequential_path(ZnodeKind.CONFIG_CHANGE), _notice(image, entity).to_bytes(), sequential=True)
    return put(found, config_path(entity), payload), notice


def _notice(image: ClusterImage, entity: str) -> ConfigChange:
    """In the form of the release: 0.8.1 names a topic, 0.9 type and name, 0.10.1, which brought the cluster's id, a
    path."""
    kind, _, name = entity.partition("/")
    if image.generation == "0.8":
        if kind != "topics":
            raise ActionRefused(f"{entity}: Kafka 0.8 has settings of topics only")
        return ConfigChange(version=BARE_TOPIC, entity_type=kind, entity_name=name)
    if image.cluster_id is None and image.generation == "0.9-1.x":
        return ConfigChange(version=1, entity_type=kind, entity_name=name)
    return ConfigChange(version=2, entity_path=entity)

"""How a release's controller and brokers use ZooKeeper: which znodes, which version, how guarded, in which order.

A table; the rules of elections are in `generations`. A broker is taken to run with its own release's
inter.broker.protocol.version. Later versions of a broker's registration only add keys. It writes nothing itself.

Source: `kafka.zk.KafkaZkClient` and `ZkData` (1.1 to 3.9), `kafka.utils.ZkUtils` (0.8.0 to 1.0), the controllers that
use them, 0.8.0 to 3.9; `kafka.zk.BrokerIdZNode` (3.9).
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from model.znodes.cluster import BrokerRegistration
from model.znodes.paths import PATHS_AT_BROKER_START


class ReassignmentRules(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How replicas of a partition are moved."""

    keeps_goal: bool
    """Whether the topic's znode says what is added and removed (KIP-455, 2.4). Before, only the request did, and it
    held old and new replicas together while they were moved."""
    needs_live_target: bool
    """Whether one dead broker in the target ended it at once, up to 0.10.0; later it waits."""
    announces: bool
    """Whether the topic's znode and a higher leader epoch tell of it while it goes on, from 0.8.1 on."""
    watches_states: bool
    """Whether the controller watches the partition's state, for its leader writes the ISR, up to 2.6."""


class ZnodeFormats(msgspec.Struct, frozen=True, kw_only=True):
    """How one span of releases uses ZooKeeper."""

    paths: tuple[str, ...]
    """What a broker creates when it starts."""
    names_cluster: bool
    """Whether there is a `/cluster/id`."""
    registration_version: int
    """The payload version of `/brokers/ids/N`."""
    registers_first: bool
    """Whether a broker registers before it stands for election, or after."""
    broker_epochs: bool
    """KIP-380: registration in a transaction, its zxid is the broker's epoch, bounced brokers are noticed."""
    looks_before_claiming: bool
    """Whether a broker that sees a controller does not even try to be elected."""
    fenced: bool
    """KAFKA-6082: one transaction creates `/controller` and raises the epoch, and every write checks the epoch."""
    controller_version: int
    """The payload version of `/controller`."""
    topic_version: int
    """The payload version of topics; 3 has topic ids."""
    feature_version: int | None
    """The payload version of `/feature`; None where features are not finalized."""
    leaders_write_isrs: bool
    """Whether leaders write ISRs themselves, or ask the controller (KIP-497)."""
    refuses_offline_members: bool
    """Whether a leader's ISR is refused for members that are offline or shutting down (3.3)."""
    drops_notifications: bool
    """Whether a new controller deletes notifications of ISRs unread."""
    tells_before_states: bool
    """Whether a new controller tells who is live before it starts the state machines, or at the very end."""
    takes_dead_out_of_isrs: bool
    """Whether a new controller takes copies on dead brokers out of the ISRs; before, their leaders had to."""
    drops_disabled_markers: bool
    """Whether markers of topics are removed where deletion is disabled; before, they stayed."""
    restores_assignments: bool
    """Whether partitions added to a topic that is being deleted are taken out of its znode again."""
    hands_out_producer_ids: bool
    """Whether the controller does (KIP-730), or brokers help themselves."""
    reassigning: ReassignmentRules


FIRST_FORMATS = ZnodeFormats(
    # The topics' folder came with the first topic; watches need it at once.
    paths=("/brokers/ids", "/brokers/topics"),
    names_cluster=False,
    registration_version=1,
    registers_first=False,
    broker_epochs=False,
    looks_before_claiming=False,
    fenced=False,
    controller_version=1,
    topic_version=1,
    feature_version=None,
    leaders_write_isrs=True,
    refuses_offline_members=False,
    drops_notifications=False,
    tells_before_states=False,
    takes_dead_out_of_isrs=False,
    drops_disabled_markers=False,
    restores_assignments=False,
    hands_out_producer_ids=False,
    reassigning=ReassignmentRules(keeps_goal=False, needs_live_target=True, announces=False, watches_states=True),
)
"""0.8.0."""

_0_8_1 = ("/consumers", "/brokers/ids", "/brokers/topics", "/config/changes", "/config/topics", "/admin/delete_topics")
_0_9 = (
    "/consumers",
    "/brokers/ids",
    "/brokers/topics",
    "/config/changes",
    "/config/topics",
    "/config/clients",
    "/admin/delete_topics",
    "/brokers/seqid",
    "/isr_change_notification",
)
_WITH_EPOCHS = ReassignmentRules(keeps_goal=False, needs_live_target=True, announces=True, watches_states=True)
_WAITING = msgspec.structs.replace(_WITH_EPOCHS, needs_live_target=False)
_KEPT = msgspec.structs.replace(_WAITING, keeps_goal=True)

FORMAT_CHANGES: Mapping[str, Mapping[str, Any]] = {
    "0.8.1": {"paths": _0_8_1, "reassigning": _WITH_EPOCHS},
    "0.8.2": {"looks_before_claiming": True},
    "0.9": {"paths": _0_9, "registration_version": 2},
    "0.10": {"registration_version": 3},
    "0.10.1": {"names_cluster": True, "reassigning": _WAITING},
    "0.10.2": {"tells_before_states": True, "drops_disabled_markers": True, "registration_version": 4},
    "0.11": {"paths": (*_0_9, "/latest_producer_id_block")},
    "1.0": {"paths": (*_0_9, "/latest_producer_id_block", "/log_dir_event_notification")},
    "1.1": {
        "paths": tuple(path for path in PATHS_AT_BROKER_START if path != "/config/ips"),
        "registers_first": True,
        "drops_notifications": True,
    },
    "2.0": {"restores_assignments": True},
    "2.1": {"fenced": True},
    "2.2": {"broker_epochs": True},
    "2.3": {"takes_dead_out_of_isrs": True},
    "2.4": {"topic_version": 2, "reassigning": _KEPT},
    "2.7": {
        "registration_version": 5,
        "feature_version": 1,
        "leaders_write_isrs": False,
        "reassigning": msgspec.structs.replace(_KEPT, watches_states=False),
    },
    "2.8": {"topic_version": 3, "paths": PATHS_AT_BROKER_START},
    "3.0": {"hands_out_producer_ids": True},
    "3.3": {"feature_version": 2, "refuses_offline_members": True},
    "3.4": {"controller_version": 2},
}
"""By release: what changed with it."""


_ADDED: Mapping[int, Mapping[str, object]] = {
    2: {"endpoints": ()},
    3: {"rack": None},
    4: {"listener_security_protocol_map": {}},
    5: {"features": {}},
}
"""By payload version: the keys it added, as they are where there are none."""


def registration_as(registration: BrokerRegistration, forms: ZnodeFormats) -> BrokerRegistration:
    """The same in the version of this release, without what that version does not know."""
    version = forms.registration_version
    unknown = {key: absent for since, keys in _ADDED.items() if since > version for key, absent in keys.items()}
    return msgspec.structs.replace(registration, version=version, **unknown)

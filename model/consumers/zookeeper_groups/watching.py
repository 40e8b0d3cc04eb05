"""What a watch that fires means to a member. The watch is set again at once, so that nothing is missed meanwhile.

Source: `ZKRebalancerListener.handleChildChange`, `ZKTopicPartitionChangeListener`, `ZookeeperTopicEventWatcher` (0.8.2,
1.1). Brokers are watched from the first time on that there was none.
"""

from model.consumers.zookeeper_groups.attempts import wish
from model.consumers.zookeeper_groups.decision import MemberDecision, aside
from model.consumers.zookeeper_groups.events import WatchFired
from model.consumers.zookeeper_groups.member_state import MemberState
from model.consumers.zookeeper_groups.stages import Stage
from model.controller.zookeeper import BROKER_IDS, TOPICS, Children, Exists
from model.znodes.paths import members_path


def watched(member: MemberState, event: WatchFired) -> MemberDecision:
    """The deletion of a topic alone starts no rebalance; a change of members, partitions or brokers does."""
    path = event.path
    if path == TOPICS:
        return aside(member, Stage.SIDE_TOPICS, Children(path, watch=True))
    if path.startswith(f"{TOPICS}/"):
        armed = aside(member, Stage.SIDE_WATCH, Exists(path, watch=True))
        why = f"partitions of {path.removeprefix(f'{TOPICS}/')} have changed"
        return armed if event.deleted else armed.then(lambda m: wish(m, why, event.at_ms))
    if path not in (members_path(member.settings.group_id), BROKER_IDS):
        return MemberDecision(member)
    why = "brokers have come" if path == BROKER_IDS else "members have come or gone"
    armed = aside(member, Stage.SIDE_WATCH, Children(path, watch=True))
    return armed.then(lambda m: wish(m, why, event.at_ms))

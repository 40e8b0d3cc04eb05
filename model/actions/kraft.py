"""What KRaft's controller makes of topics and settings that are asked for, by its own rules: placement, refusals, ELR.

Source: `ReplicationControlManager` (`createTopics`, `createPartitions`, `validateManualPartitionAssignment`),
`ConfigurationControlManager.incrementalAlterConfigs`, 3.3 to 4.4.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from kio.schema.errors import ErrorCode

from model.actions.proposal import ActionRefused, Replicas
from model.cluster.ids import NO_LEADER
from model.cluster.texts import brokers, counted
from model.kraft_controller.cluster import UNCLEAN_KEY, ElrCleared, KraftCluster
from model.kraft_controller.placement import PlacementError
from model.kraft_controller.settings import Setting, alter_configs
from model.kraft_controller.topics import MOST_PARTITIONS, assignment_problem, placed

Dice = Callable[[int], int]
"""A number from 0 to below this one."""

DRAWN = (
    "KRaft draws at random where placement begins, and so does this: what is shown is what is sent, "
    "another time it is another one"
)


def placed_by_rules(cluster: KraftCluster, numbers: Sequence[int], replicas: int, dice: Dice) -> Replicas:
    """As StripedReplicaPlacer places them. Raises ActionRefused."""
    if len(numbers) > MOST_PARTITIONS and cluster.levels.release >= (3, 9):
        raise ActionRefused(f"{len(numbers):,} partitions: one request creates {MOST_PARTITIONS:,} (POLICY_VIOLATION)")
    try:
        return placed(cluster, numbers, replicas, dice)
    except PlacementError as error:
        raise ActionRefused(f"{error} (INVALID_REPLICATION_FACTOR)") from None


def check_assignment(cluster: KraftCluster, assignment: Replicas, count: int | None = None) -> None:
    """`count`: of the topic's replicas, where there are some. Raises ActionRefused as its controller refuses it."""
    for partition, replicas in assignment.items():
        if problem := assignment_problem(cluster, replicas, count):
            raise ActionRefused(f"partition {partition}: {problem} (INVALID_REPLICA_ASSIGNMENT)")


def settings_warnings(
    cluster: KraftCluster, entity: str, add: Mapping[str, str], remove: Sequence[str]
) -> Iterator[str]:
    """What else comes of settings than that they are set. Raises ActionRefused for what its controller refuses."""
    wanted = [*(Setting(entity, *each) for each in add.items()), *(Setting(entity, key, None) for key in remove)]
    result = alter_configs(cluster, wanted)
    for setting, error in zip(wanted, result.errors, strict=True):
        if error is not ErrorCode.none:
            raise ActionRefused(f"{setting.key} of {entity}: {_refused(setting)} ({error.name.upper()})")
    for record in result.records:
        if isinstance(record, ElrCleared):
            yield from _cleared(cluster, record.topic)
    if add.get(UNCLEAN_KEY) == "true":
        yield from _let_be_unclean(cluster, entity)


def _refused(setting: Setting) -> str:
    if setting.key != "min.insync.replicas":
        return "the value is too long"
    if setting.value is None:
        return "with eligible leader replicas (ELR) there has to be one for all brokers"
    return "with eligible leader replicas (ELR) it is set for all brokers, or on topics, not on one broker"


def _cleared(cluster: KraftCluster, topic: str) -> Iterator[str]:
    """ELRs are forgotten with any new value, greater or smaller; nobody is elected by that."""
    states = [state for name, state in cluster.with_any_elr() if not topic or name.topic == topic]
    if states:
        yield f"the controller clears the eligible leader replicas (ELR) of {counted(len(states), 'partition')}"
    if lost := [state for state in states if state.leader == NO_LEADER]:
        who = brokers({broker for state in lost for broker in (*state.elr, *state.last_known_elr)})
        many = counted(len(lost), "partition")
        yield f"{many} without a leader: {who} may lead without loss now, and not after this; bring them back first"


def _let_be_unclean(cluster: KraftCluster, entity: str) -> Iterator[str]:
    kind, _, topic = entity.partition("/")
    lost = [name for name in cluster.leaderless if kind != "topics" or name.topic == topic]
    if not lost:
        return
    when = "within five minutes" if cluster.levels.release >= (3, 9) else "with the next event of theirs"
    yield f"{counted(len(lost), 'partition')} without a leader: one that may lack records is elected {when}"

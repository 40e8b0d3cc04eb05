"""What a preview is asked, and which strategies that means for a group."""

from collections.abc import Mapping

import msgspec

from model.consumers.assignors.strategies import STRATEGIES

_COMPARED = [strategy for strategy in STRATEGIES.values() if strategy.compared]
CLASSIC_STRATEGIES = tuple(strategy.name for strategy in _COMPARED if not strategy.threads)
ZOOKEEPER_STRATEGIES = tuple(strategy.name for strategy in _COMPARED if strategy.threads)

AS_ZOOKEEPER_SAYS: Mapping[str, str] = {"range": "zk-range", "roundrobin": "zk-roundrobin"}
"""What the two values of a ZooKeeper consumer's `partition.assignment.strategy` mean among all strategies."""


class Parameters(msgspec.Struct, frozen=True):
    """What to preview, of all groups that are staged."""

    strategies: tuple[str, ...] = ()
    """Names as `model.consumers.assignors.strategies` has them; none: all that such a group could use."""
    each_leaves: bool = False
    """Whether each consumer is to die in turn."""
    join: int = 0
    """How many consumers join at once; 0: none do."""
    detail: bool = False
    """Every member's share and every death, not only the extremes and the worst."""


def strategies_for(parameters: Parameters, *, zookeeper: bool) -> tuple[str, ...]:
    """The strategies to preview for a group of that kind, each once."""
    if not parameters.strategies:
        return ZOOKEEPER_STRATEGIES if zookeeper else CLASSIC_STRATEGIES
    if not zookeeper:
        return tuple(dict.fromkeys(parameters.strategies))
    return tuple(dict.fromkeys(AS_ZOOKEEPER_SAYS.get(name, name) for name in parameters.strategies))

"""Each broker removed in turn, as an analysis: a plan and its drills a unit. Brokers do not depend on each other."""

from collections.abc import Sequence

import msgspec
import numpy as np

from model.planning.balance import balance_of
from model.planning.cost import cost_of
from model.planning.optimum.solving import solve
from model.planning.planner import Solve, chosen
from model.planning.refusal import PlanError
from model.planning.request import PlanRequest
from model.planning.setting import on_any, setting_of
from spark_tasks import here
from spark_tasks.analysis import Arrays, Unit
from spark_tasks.drills.analysis import DRILLS
from spark_tasks.drills.results import Parameters as DrillParameters
from spark_tasks.errors import AnalysisError
from spark_tasks.plans.drill_figures import figures
from spark_tasks.plans.results import NoPlan, Parameters, Result, WithoutBroker
from spark_tasks.plans.staging import layout_in, replicas_by_broker, without

Row = WithoutBroker | NoPlan


class EachBroker:
    """See `spark_tasks.analysis.Analysis`. A unit is a broker's id."""

    name = "plans"
    parameters_type = Parameters
    result_type = Result

    def __init__(self, solver: Solve = solve) -> None:
        self._solve = solver

    def units(self, arrays: Arrays, parameters: Parameters) -> Sequence[Unit]:
        """The brokers; what one holds must move, the rest of the work is the same for all."""
        held = replicas_by_broker(arrays)
        if strange := set(parameters.brokers) - held.keys():
            raise AnalysisError(f"broker {min(strange)} is not alive here")
        every = len(arrays["topic"])
        return [Unit(broker, every + held[broker]) for broker in parameters.brokers or held]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: Parameters) -> Arrays:
        """The rows of these brokers, as JSON in bytes: they are few, and not only numbers."""
        rows = [self._row(broker, arrays, parameters) for broker in units]
        return {"rows": np.frombuffer(msgspec.json.encode([_tagged(row) for row in rows]), np.uint8)}

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: Parameters) -> Result:
        """By broker, with what its death does now."""
        rows = sorted((row for batch in batches for row in _read(batch)), key=lambda row: row.broker)
        hurt = _hurt_by_death(arrays, parameters)
        return Result(
            brokers=tuple(
                msgspec.structs.replace(row, hurt_by_death=hurt[row.broker])
                for row in rows
                if isinstance(row, WithoutBroker)
            ),
            impossible=tuple(row for row in rows if isinstance(row, NoPlan)),
            now=figures(arrays, parameters.racks, parameters.failure_rate),
        )

    def _row(self, broker: int, arrays: Arrays, parameters: Parameters) -> Row:
        layout = layout_in(arrays, parameters.racks)
        request = PlanRequest(
            remove=(broker,),
            reach=parameters.reach,
            by=parameters.by,
            tolerance_percent=parameters.tolerance_percent,
            capacity=parameters.capacity,
        )
        try:
            setting = setting_of(layout, request)
            after, bound = chosen(layout, setting, request, self._solve)
        except PlanError as error:
            return NoPlan(broker, str(error))
        cost, later = cost_of(layout.replicas, after, layout.size), layout.with_replicas(after)
        balance = balance_of(later, setting.staying, setting.racks, setting.rack_rule)
        return WithoutBroker(
            broker=broker,
            rack=layout.racks[broker],
            hurt_by_death=0,
            moves=cost.moves,
            moves_bound=bound.moves,
            bytes=cost.bytes,
            leader_changes=cost.leader_changes,
            replicas_spread=balance.replicas.spread,
            leaders_spread=balance.leaders.spread,
            disk_spread_percent=balance.disk_spread_percent,
            rack_violations=balance.rack_violations,
            left=int(on_any(later, [broker]).sum()),
            drills=figures(without(arrays, broker, after), parameters.racks, parameters.failure_rate),
        )


def _hurt_by_death(arrays: Arrays, parameters: Parameters) -> dict[int, int]:
    live = int(np.count_nonzero(arrays["live"]))
    asked = DrillParameters(kind="brokers", racks=parameters.racks, listed=live, detailed=0)
    return {one.kill[0]: one.counts.hurt for one in here.run(DRILLS, arrays, asked).listed}


class _Tagged(msgspec.Struct):
    found: WithoutBroker | None = None
    none: NoPlan | None = None


def _tagged(row: Row) -> _Tagged:
    return _Tagged(none=row) if isinstance(row, NoPlan) else _Tagged(found=row)


def _read(batch: Arrays) -> list[Row]:
    tagged = msgspec.json.decode(batch["rows"].tobytes(), type=list[_Tagged])
    return [row for one in tagged if (row := one.found or one.none) is not None]


PLANS = EachBroker()

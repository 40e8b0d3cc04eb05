"""Rebalance previews as an analysis: arrays from `staging`, numbers that `names` knows the meaning of out."""

from collections.abc import Sequence

from spark_tasks.analysis import Arrays, Unit
from spark_tasks.previews.combined import combined
from spark_tasks.previews.kernel import kernel
from spark_tasks.previews.parameters import Parameters
from spark_tasks.previews.pieces import pieces
from spark_tasks.previews.result import Result


class RebalancePreviews:
    """See `spark_tasks.analysis.Analysis`."""

    name = "previews"
    parameters_type = Parameters
    result_type = Result

    def units(self, arrays: Arrays, parameters: Parameters) -> Sequence[Unit]:
        """Groups, the large ones in pieces."""
        return pieces(arrays, parameters).units()

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: Parameters) -> Arrays:
        """Rows of these units."""
        return kernel(units, arrays, parameters)

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: Parameters) -> Result:
        """All groups, as they were staged."""
        return combined(batches, arrays, parameters)


PREVIEWS = RebalancePreviews()

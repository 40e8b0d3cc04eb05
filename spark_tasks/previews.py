"""Rebalance previews as an analysis: arrays from `staging`, numbers that `names` knows the meaning of out."""

from collections.abc import Sequence

from model.analyses.analysis import Arrays, Unit
from model.analyses.previews.kernel import combined, kernel, pieces
from model.analyses.previews.result import PreviewParameters, PreviewResult


class RebalancePreviews:
    """See `model.analyses.analysis.Analysis`."""

    name = "previews"
    parameters_type = PreviewParameters
    result_type = PreviewResult

    def units(self, arrays: Arrays, parameters: PreviewParameters) -> Sequence[Unit]:
        """Groups, the large ones in pieces."""
        return pieces(arrays, parameters).units()

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: PreviewParameters) -> Arrays:
        """Rows of these units."""
        return kernel(units, arrays, parameters)

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: PreviewParameters) -> PreviewResult:
        """All groups, as they were staged."""
        return combined(batches, arrays, parameters)


PREVIEWS = RebalancePreviews()

"""What drills say of a cluster before and after a plan. Where a cluster cannot be drilled, nothing."""

from model.cluster.cluster_image import ClusterImage
from model.planning.applied import applied
from model.planning.plan import Plan
from spark_tasks.errors import AnalysisError
from spark_tasks.plans.drill_figures import DrillFigures, figures_of


def drills_of(image: ClusterImage, plan: Plan) -> tuple[DrillFigures, DrillFigures] | None:
    """Before and after; None where there are brokers or partitions that no drill can be made of."""
    try:
        return figures_of(image), figures_of(applied(image, plan))
    except AnalysisError:
        return None

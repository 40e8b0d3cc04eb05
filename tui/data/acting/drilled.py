"""What drills say of a cluster before and after something is done to it."""

import msgspec

from model.actions.proposal import Proposal
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.cluster.words import counted
from spark_tasks.errors import AnalysisError
from spark_tasks.plans.drill_figures import figures_of


def drills_said(before: ClusterImage, after: ClusterImage) -> str:
    """What the death of the worst broker does, one line; empty where the cluster cannot be drilled."""
    try:
        figures = figures_of(before)
        was, will_be = figures.broker, figures_of(after).broker
    except AnalysisError:
        return ""
    if was is None or will_be is None:
        return ""
    first = f"{figures.not_forecast} " if figures.not_forecast else ""
    return f"{first}drill: losing the worst broker hurts {counted(was.hurt, 'partition')} → {will_be.hurt:,}"


def with_drill(image: ClusterImage, proposal: Proposal) -> Proposal:
    """The proposal with that line first, where it changes what a death does."""
    if not proposal.leads_to:
        return proposal
    after = ClusterDelta(image).replay_all(proposal.leads_to).apply(image.provenance)
    said = drills_said(image, after)
    return msgspec.structs.replace(proposal, changes=(said, *proposal.changes)) if said else proposal

"""Every analysis by its name. A module is imported when its analysis is wanted, and not before."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from spark_tasks.analysis import Analysis

ANALYSES: Mapping[str, str] = {
    "drills": "spark_tasks.drills.analysis:DRILLS",
    "history": "spark_tasks.history.analysis:HISTORY",
    "plans": "spark_tasks.plans.analysis:PLANS",
    "previews": "spark_tasks.previews.analysis:PREVIEWS",
    "scan": "spark_tasks.scans.scan:SCAN",
}
"""Name → `module:attribute`, where the attribute is the analysis itself: one row each."""


def find(name: str) -> Analysis[Any, Any]:
    """The analysis called so; a name with a colon in it is a `module:attribute` itself.

    Raises KeyError when there is none of that name.
    """
    place = name if ":" in name else ANALYSES[name]
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)

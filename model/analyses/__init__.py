"""Analyses too wide for a single loop, as numpy kernels over shared arrays. Spark runs them, or one process.

How one can end without a result is said here, for who loads no numpy. Each message is one line for the user.
"""


class AnalysisError(Exception):
    """An analysis can't answer: bad parameters, a file that can't be read. `units`, `kernel` and `combine` raise it."""


class JobCancelled(Exception):  # noqa: N818 - reads as a fact
    """Somebody cancelled the job; the message is its tag."""

"""How an analysis can end without a result. Each message is one line for the user. Loads no numpy."""


class AnalysisError(Exception):
    """An analysis can't answer: bad parameters, a file that can't be read. `units`, `kernel` and `combine` raise it."""


class JobCancelled(Exception):  # noqa: N818 - reads as a fact
    """Somebody cancelled the job; the message is its tag."""

"""How a job can end without a result. Each message is one line for the user."""


class AnalysisError(Exception):
    """An analysis can't answer: bad parameters, a file that can't be read. `units`, `kernel` and `combine` raise it."""


class JobCancelled(Exception):  # noqa: N818 - reads as a fact
    """Somebody cancelled the job; the message is its tag."""


class JobFailed(Exception):  # noqa: N818 - reads as a fact
    """The job has no result; the message says why. Other jobs go on."""


class SparkLost(Exception):  # noqa: N818 - reads as a fact
    """There is no Spark: it could not start, or it ended. It may be started again."""

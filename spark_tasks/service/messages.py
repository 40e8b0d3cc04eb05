"""What the Spark process and its client tell each other, one JSON object a line. Values only.

The client's first line is `Begin`, then come orders: `{"id":1,"run":{…}}`, `{"cancel":"TAG"}`. The process tells its
status whenever it changed, and answers each `run` once, in whatever order. After a status `failed` it ends.
"""

import msgspec

from spark_tasks.options import SparkOptions
from spark_tasks.status import SparkStatus


class Begin(msgspec.Struct, frozen=True):
    """The options, and the folder for files; the process removes it when it ends."""

    options: SparkOptions
    folder: str


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """Run an analysis of the registry on the arrays of a file."""

    tag: str
    analysis: str
    arrays: str
    parameters: msgspec.Raw


class Order(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the client: either of the two."""

    id: int = 0
    run: Run | None = None
    cancel: str | None = None
    """The tag of the job to end."""


class Told(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the process: its status, or `id` and one of the answers."""

    status: SparkStatus | None = None
    id: int | None = None
    result: msgspec.Raw = msgspec.Raw()
    result_file: str | None = None
    """Where the result is, when it is long. The client removes it."""
    cancelled: bool = False
    failed: str | None = None

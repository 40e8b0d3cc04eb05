"""What the Spark process and its client tell each other (`model.hosts.child_process`): options, status, orders.

The client's first message is `Begin`, its questions are `RunJob` and `Cancel`. The process tells its status whenever it
changed. After a status `failed` it ends. Values only.
"""

from typing import Literal

import msgspec


class SparkOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How Spark is to run. Sizes and times have defaults that suit one machine."""

    master: str = "local[*]"
    """`local[N]`, `local[*]`, `spark://host:port`, `yarn` or `k8s://https://host:port`."""
    settings: dict[str, str] = {}
    """Spark's own settings by their names (`spark.executor.memory`); they win over ours."""
    driver_memory: str = "2g"
    """The heap of the Java process here."""
    start_timeout_s: float = 120.0
    """How long the first task may wait for an executor."""
    archives: str = ""
    """The folder of class archives; the user's cache folder if empty."""
    nice: int = 0
    """How far Spark on this machine stands back behind other processes: 0 to 19, as nice(1) has it."""
    build_archive: bool = True
    """Whether to build a class archive for the next start, once this one is ready."""


State = Literal["off", "starting", "ready", "busy", "failed"]


class JobStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One job that was asked for and has not ended."""

    tag: str
    analysis: str
    seconds: float = 0.0
    """Since it was asked for."""
    stages: tuple[int, int] = (0, 0)
    """Done, and all that are known so far."""
    tasks: tuple[int, int] = (0, 0)
    """Done, and all that are known so far; (0, 0) while the work is still being divided."""


class SparkStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The session, and what it does now."""

    state: State = "off"
    """failed: `reason` says why; starting it again is possible."""
    master: str = ""
    reason: str = ""
    """One line."""
    seconds: float = 0.0
    """How long the start took, or takes so far."""
    cores: int = 0
    """That run tasks; 0 until it is ready."""
    job_s: float = 0.0
    """What a job of next to no work took, once it was ready."""
    jobs: tuple[JobStatus, ...] = ()
    pids: tuple[int, ...] = ()
    """Of the Spark process and its Java."""


class Begin(msgspec.Struct, frozen=True):
    """The options, and the folder for files; the process removes it when it ends."""

    options: SparkOptions
    folder: str


class RunJob(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Run an analysis of the registry on the arrays of a file; answered by a JobResult."""

    tag: str
    analysis: str
    arrays: str
    parameters: bytes
    """As JSON."""
    left: tuple[int, ...] | None = None
    """The units that are to be run; None for all."""
    done: str = ""
    """A file of the batches of all others (`packed_batches`); empty where there are none."""


class Cancel(msgspec.Struct, frozen=True, tag=True):
    """End the job of this tag; its own answer says so."""

    tag: str


class JobResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a job: one of these."""

    result: bytes = b""
    """As JSON."""
    result_file: str | None = None
    """Where that is, when it is long. The client removes it."""
    cancelled: bool = False
    failed: str | None = None
    tasks: int = 0
    """That were run."""
    cpu_s: float = 0.0
    """Of processor time that kernels took, and the sum of their batches; without Spark's own."""


class JobFailed(Exception):  # noqa: N818 - reads as a fact
    """The job has no result; the message says why. Other jobs go on."""


class SparkLost(Exception):  # noqa: N818 - reads as a fact
    """There is no Spark: it could not start, or it ended. It may be started again."""

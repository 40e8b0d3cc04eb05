"""What an analysis is, whoever runs it: units of work with costs, a kernel, and what its batches add up to.

An analysis imports no Spark and touches nothing outside, but for files that its parameters name. `spark_tasks.here`
runs it in this process and `spark_tasks.service` on Spark; both give the same result.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[np.generic]]
"""Name → array of numbers: what kernels read and return. Between processes it is an Arrow file (`arrow_arrays`)."""


class Unit(msgspec.Struct, frozen=True):
    """A piece of work that is never split. `cost` in any unit, the same for all units of an analysis."""

    id: int
    cost: float


ParametersT_contra = TypeVar("ParametersT_contra", bound=msgspec.Struct, contravariant=True)
ResultT_co = TypeVar("ResultT_co", bound=msgspec.Struct, covariant=True)


class Analysis(Protocol[ParametersT_contra, ResultT_co]):
    """One kind of question. Stateless: everything it knows is in `arrays` and `parameters`."""

    @property
    def name(self) -> str:
        """As the registry, the protocol and the screen call it."""
        ...

    @property
    def parameters_type(self) -> type[Any]:
        """The class of its parameters, which travel as JSON."""
        ...

    @property
    def result_type(self) -> type[Any]:
        """The class of its result, which travels as JSON."""
        ...

    def units(self, arrays: Arrays, parameters: ParametersT_contra) -> Sequence[Unit]:
        """The whole work. Quick, for it is done before anything is spread."""
        ...

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: ParametersT_contra) -> Arrays:
        """What comes of these units. Runs in a worker; how units are grouped must not matter to the result."""
        ...

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: ParametersT_contra) -> ResultT_co:
        """The result of all batches, in whatever order they come."""
        ...

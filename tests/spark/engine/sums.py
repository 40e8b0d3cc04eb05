"""An analysis for tests of the engines: sums of slices. Its kernel can be held up, and can say where it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

import spark_tasks
from model.analyses import AnalysisError
from model.analyses.analysis import Arrays, Unit


class SumsParameters(msgspec.Struct, frozen=True):
    """`slices` units, of which some are held: they leave a file `at-UNIT-PROCESS` in `folder`, and wait for `go`
    or `go-UNIT` there."""

    slices: int = 10
    folder: str = ""
    held: tuple[int, ...] = ()
    wrong: int = -1
    """The unit that the kernel refuses."""
    broken: int = -1
    """The unit that the kernel falls over."""
    kind: str = ""
    """What it takes is measured by kind."""


class Sums(msgspec.Struct, frozen=True):
    """The sum of each slice, and which copy of the code ran the kernels."""

    sums: tuple[int, ...]
    code: tuple[str, ...] = ()


class SumsAnalysis:
    """Sums of `values[unit::slices]`."""

    name = "tests.spark.engine.sums:SUMS"
    parameters_type = SumsParameters
    result_type = Sums

    def units(self, arrays: Arrays, parameters: SumsParameters) -> Sequence[Unit]:
        if parameters.slices < 0:
            raise AnalysisError(f"{parameters.slices} slices: give 0 or more")
        return [Unit(number, 1 + number % 3) for number in range(parameters.slices)]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: SumsParameters) -> Arrays:
        if parameters.wrong in units:
            raise AnalysisError(f"unit {parameters.wrong} is wrong")
        if parameters.broken in units:
            raise ZeroDivisionError("by nothing")
        for unit in set(units) & set(parameters.held):
            folder = Path(parameters.folder)
            (folder / f"at-{unit}-{os.getpid()}").touch()
            while not any((folder / name).exists() for name in ("go", f"go-{unit}")):
                time.sleep(0.005)
        sums = [sum(arrays["values"][unit :: parameters.slices].tolist()) for unit in units]
        code = os.fsencode(str(spark_tasks.__file__))
        return {"unit": np.array(units), "sum": np.array(sums), "code": np.frombuffer(code, np.uint8)}

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: SumsParameters) -> Sums:
        by_unit = {
            int(unit): int(sum_) for batch in batches for unit, sum_ in zip(batch["unit"], batch["sum"], strict=True)
        }
        code = {bytes(batch["code"]).decode() for batch in batches}
        return Sums(tuple(by_unit[unit] for unit in sorted(by_unit)), tuple(sorted(code)))


class SumsInPieces(SumsAnalysis):
    """The same, in pieces; `played` has how many units each call was for."""

    def __init__(self, piece_s: float) -> None:
        self.piece_s = piece_s
        self.played: list[int] = []

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: SumsParameters) -> Arrays:
        self.played.append(len(units))
        return super().kernel(units, arrays, parameters)


SUMS = SumsAnalysis()

"""A mutant in place of what was imported, or of what is about to be."""

from __future__ import annotations

import gc
import importlib.machinery
import inspect
from collections.abc import Container, Iterator
from types import CodeType, FunctionType

from tests.mutation.operators import Mutant

Swap = tuple[CodeType, CodeType]
Functions = dict[tuple[str, CodeType], list[FunctionType]]


def functions_of(files: Container[str]) -> Functions:
    """All functions of these files that there are in this process, by their code: decorated ones and lambdas, too."""
    gc.unfreeze()
    found: Functions = {}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename in files:
            found.setdefault((function.__code__.co_filename, function.__code__), []).append(function)
    gc.freeze()  # no child walks through what all have in common
    return found


def swaps(functions: Functions, mutant: Mutant) -> list[Swap] | None:
    """Codes of functions to be replaced; none, if the mutant shows only when the module is imported."""
    try:
        found = list(_changed(*mutant.codes()))
    except _AtImportError:
        return None
    there = [(was, becomes) for was, becomes in found if (str(mutant.file), was) in functions]
    return there if there and all(len(was.co_freevars) == len(becomes.co_freevars) for was, becomes in there) else None


class _AtImportError(Exception):
    """Something differs outside of all functions."""


def _changed(old: CodeType, new: CodeType) -> Iterator[Swap]:
    if old == new:
        return
    if old.co_flags & inspect.CO_OPTIMIZED:
        yield old, new
        # What it made when the module was imported, a closure in a table, has the inner code.
        for was, becomes in zip(_inner(old), _inner(new), strict=False):
            yield from _changed(was, becomes)
        return
    if _own(old) != _own(new):
        raise _AtImportError
    for was, becomes in zip(_inner(old), _inner(new), strict=True):
        yield from _changed(was, becomes)


def _own(code: CodeType) -> tuple[object, ...]:
    constants = [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]
    return code.co_code, constants, code.co_names


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def install(functions: Functions, mutant: Mutant, found: list[Swap]) -> None:
    """Puts a mutant's code into every function that has it."""
    for was, becomes in found:
        for function in functions[str(mutant.file), was]:
            function.__code__ = becomes


def install_before_import(mutant: Mutant) -> None:
    """Makes this process import the mutant in place of its file."""
    code = mutant.codes()[1]
    as_it_is = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
        return code if self.path == str(mutant.file) else as_it_is(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code

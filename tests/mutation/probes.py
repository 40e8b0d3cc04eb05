"""Files that tell which of their statements are executed: each calls a probe first, a tenth of what a trace costs."""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType

Line = tuple[str, int]
Lines = set[Line]
Suite = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

EXECUTED = "__executed__"


class Probes:
    """What the probes of some files have said since `taken` was last called, as the first lines of statements."""

    def __init__(self, files: Collection[str]) -> None:
        self._files = files
        self._lines: list[Line] = []
        self._seen: set[int] = set()
        self._plain: dict[int, tuple[CodeType, CodeType]] = {}

    @contextmanager
    def imported(self) -> Iterator[None]:
        """In this block, the files are imported with probes."""
        files, probed, as_it_is = self._files, self._probed, importlib.machinery.SourceFileLoader.get_code

        def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
            return probed(self.path) if self.path in files else as_it_is(self, fullname)

        setattr(builtins, EXECUTED, self._seen.add)
        importlib.machinery.SourceFileLoader.get_code = get_code
        try:
            yield
        finally:
            importlib.machinery.SourceFileLoader.get_code = as_it_is

    def taken(self) -> Lines:
        """Lines that were executed since this was last asked."""
        found = {self._lines[number] for number in self._seen}
        self._seen.clear()
        return found

    def removed_from(self, functions: Iterable[object]) -> None:
        """Gives the functions among these objects the code that they have without probes."""
        for function in functions:
            if isinstance(function, FunctionType) and (found := self._plain.get(id(function.__code__))):
                function.__code__ = found[1]

    def _probed(self, path: str) -> CodeType:
        source = Path(path).read_text(encoding="utf-8")
        tree = ast.fix_missing_locations(_Instrumented(lambda line: self._number(path, line)).visit(ast.parse(source)))
        probed, plain = (compile(code, path, "exec", dont_inherit=True) for code in (tree, source))
        self._remember(probed, plain)
        return probed

    def _number(self, path: str, line: int) -> int:
        self._lines.append((path, line))
        return len(self._lines) - 1

    def _remember(self, probed: CodeType, plain: CodeType) -> None:
        self._plain[id(probed)] = probed, plain
        for inner in zip(_inner(probed), _inner(plain), strict=True):
            self._remember(*inner)


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


class _Instrumented(ast.NodeTransformer):
    """Puts a probe before each statement, and into each lambda."""

    def __init__(self, number: Callable[[int], int]) -> None:
        self._number = number

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            suite = getattr(node, field, None)
            if isinstance(suite, list) and suite:
                setattr(node, field, self._suite(node, suite))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        super().generic_visit(node)
        node.body = ast.BoolOp(ast.Or(), [self._call(node.lineno, node.body), node.body])
        return node

    def _suite(self, node: ast.AST, suite: list[ast.stmt]) -> list[ast.stmt]:
        first = _first(suite) if isinstance(node, Suite) else 0
        made = suite[:first]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            made.append(self._probe(node.lineno, suite[0]))
        for statement in suite[first:]:
            made += [self._probe(line, statement) for line in _headers(statement)]
            made.append(statement)
        return made

    def _probe(self, line: int, beside: ast.stmt) -> ast.stmt:
        return ast.copy_location(ast.Expr(self._call(line, beside)), beside)

    def _call(self, line: int, beside: ast.AST) -> ast.Call:
        call = ast.Call(ast.Name(EXECUTED, ast.Load()), [ast.Constant(self._number(line))], [])
        return ast.copy_location(call, beside)


def _first(suite: list[ast.stmt]) -> int:
    """Where statements may come: after a docstring, and after what speaks to the compiler."""
    for at, statement in enumerate(suite):
        match statement:
            case ast.Expr(value=ast.Constant()) if at == 0:
                continue
            case ast.ImportFrom(module="__future__"):
                continue
            case _:
                return at
    return len(suite)


def _headers(statement: ast.stmt) -> list[int]:
    """The first line of a statement, and of what its own execution tries: the cases of a match."""
    cases = [case.pattern.lineno for case in statement.cases] if isinstance(statement, ast.Match) else []
    return [statement.lineno, *cases]

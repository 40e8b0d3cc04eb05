"""What a mutant is: one small change to a module's syntax tree that a test should notice.

Left alone is what no test can or should notice: annotations and type-only code, docstrings and the wording of
sentences, `__repr__`, assertions, and keywords that only guard (`frozen`, `strict`…).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
"""Boundaries and negations."""

COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
RENAMED = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
GUARDS = frozenset({"frozen", "gc", "kw_only", "maxsize", "repr", "slots", "strict", "weakref"})
"""Keywords that change nothing as long as everything is right."""

TYPE_ONLY = frozenset({"annotation", "bases", "decorator_list", "returns", "type_params"})
TYPING = frozenset({"Literal", "NewType", "TypeVar", "assert_never", "cast"})


@dataclass(frozen=True)
class Mutant:
    """The `number`-th change that `sites` knows for a file; it may matter to whoever executes one of `lines`."""

    file: Path
    source: str
    number: int
    line: int
    lines: range

    def text(self) -> str:
        """Where it is, and what it changes."""
        return f"{self.file.relative_to(Path.cwd())}:{self.line}  {mutated(self.source, self.number)[1]}"

    def codes(self) -> tuple[CodeType, CodeType]:
        """The file's code as it is, and the mutant's."""
        old, new = (
            compile(code, self.file, "exec", dont_inherit=True)
            for code in (self.source, mutated(self.source, self.number)[0])
        )
        return old, new


@dataclass(frozen=True)
class Site:
    """A child of `parent`, what takes its place, and the lines of the statement around it."""

    parent: ast.AST
    field: str
    index: int | None
    new: ast.AST | None
    line: int
    lines: range

    def put(self) -> str:
        """Changes the tree, and says how."""
        held = getattr(self.parent, self.field)
        old = held if self.index is None else held[self.index]
        before = _text(old)
        if self.index is None:
            setattr(self.parent, self.field, self.new)
        elif self.new is None:
            del held[self.index]
        else:
            held[self.index] = self.new
        return f"{before} → {_text(self.new)}"


def mutants_of(file: Path, source: str) -> list[Mutant]:
    """All that the operators know for a file."""
    found = enumerate(sites(ast.parse(source)))
    return [Mutant(file, source, number, site.line, site.lines) for number, site in found]


def mutated(source: str, number: int) -> tuple[ast.Module, str]:
    """The tree of a file's mutant, and what was changed."""
    tree = ast.parse(source)
    site = next(site for at, site in enumerate(sites(tree)) if at == number)
    what = site.put()
    return ast.fix_missing_locations(tree), what


def sites(tree: ast.Module) -> Iterator[Site]:
    """Every change there is, in the order of the file."""
    yield from _inside(tree, range(0))


def _inside(node: ast.AST, lines: range) -> Iterator[Site]:
    for field, value in ast.iter_fields(node):
        if field in TYPE_ONLY or (isinstance(node, ast.ClassDef) and field == "keywords"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _left_alone(child, node, field, index):
                continue
            around = _header(child) or lines
            line = getattr(child, "lineno", around.start)
            for new in _instead(child, node, field):
                yield Site(node, field, index, new, line, around)
            yield from _inside(child, around)


def _header(node: ast.AST) -> range | None:
    """The lines of a statement, without those of the statements in it; none, if this is no statement."""
    if not isinstance(node, ast.stmt | ast.match_case | ast.Lambda):
        return None
    first = node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not isinstance(body, list):
        return range(first, (getattr(node, "end_lineno", None) or first) + 1)
    inner = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else body[0].lineno
    return range(first, max(inner, first + 1))


def _left_alone(node: ast.AST, parent: ast.AST, field: str, index: int | None) -> bool:
    match node:
        case ast.Assert() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Raise(exc=ast.Call(func=ast.Name(id="AssertionError")) | ast.Name(id="NotImplementedError")):
            return True
        case ast.Expr(value=ast.Constant()) | ast.FunctionDef(name="__repr__"):
            return True
        case ast.Call(func=ast.Name(id=name)) | ast.Subscript(value=ast.Name(id=name)) if name in TYPING:
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name in TYPING:
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.keyword(arg=name) if name in GUARDS:
            return True
        case ast.Assign(value=ast.BinOp(op=ast.BitOr()) | ast.Subscript()) if isinstance(parent, ast.Module):
            return True  # an alias of a type
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return True
    match parent:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass")):
            return field == "args" and index == 1
        case ast.FormattedValue():
            return field == "format_spec"
    return False


def _instead(node: ast.AST, parent: ast.AST, field: str) -> Iterator[ast.AST | None]:
    """What may take the place of a node; nothing where `None` comes."""
    match node:
        case ast.Constant():
            yield from _constants(node, parent, field)
        case ast.Compare():
            yield from _comparisons(node)
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for at in range(len(values)):
                rest = values[:at] + values[at + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(left, op, right) if type(op) in COMPUTED and not any(map(_is_text, (left, right))):
            yield ast.BinOp(left, COMPUTED[type(op)](), right)
        case ast.Slice(lower, upper, step):
            yield from (ast.Slice(_more(lower), upper, step), ast.Slice(None, upper, step)) if lower else ()
            yield from (ast.Slice(lower, _more(upper), step), ast.Slice(lower, None, step)) if upper else ()
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in RENAMED:
            yield ast.Call(ast.Name(RENAMED[name], ast.Load()), args, [] if name == "sorted" else keywords)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.comprehension(target, iterated, [_, *_], is_async):
            yield ast.comprehension(target, iterated, node.ifs[1:], is_async)
        case ast.keyword(arg=str()) if isinstance(parent, ast.Call):
            yield None
        case ast.stmt():
            yield from _statements(node)


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    match node:
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Name()], value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Assign(node.targets, ast.Constant(None))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.If(test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
            yield ast.If(ast.Constant(False), body, orelse)
        case ast.While(test, body, orelse):
            yield ast.While(ast.Constant(False), body, orelse)


def _comparisons(node: ast.Compare) -> Iterator[ast.Compare]:
    for at, op in enumerate(node.ops):
        for other in COMPARED[type(op)]:
            yield ast.Compare(node.left, [*node.ops[:at], other(), *node.ops[at + 1 :]], node.comparators)


def _constants(node: ast.Constant, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    match node.value:
        case bool(value):
            yield ast.Constant(not value)
        case int(value) | float(value):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case str(value) if field == "keys" or isinstance(parent, ast.Subscript | ast.Compare):
            yield ast.Constant(f"{value}?")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _more(node: ast.expr) -> ast.expr:
    return ast.BinOp(copy.deepcopy(node), ast.Add(), ast.Constant(1))


def _text(node: ast.AST | None) -> str:
    if node is None:
        return "nothing"
    text = " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
    return text if len(text) <= 90 else text[:60] + " … " + text[-27:]

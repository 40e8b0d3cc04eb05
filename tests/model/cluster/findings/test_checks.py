"""That every check there is runs, and that kinds are told apart by their names."""

import pkgutil
from importlib import import_module

from model.cluster import findings
from model.cluster.findings.check import SEVERITIES, ClusterCheck, GroupCheck, TopicCheck
from model.cluster.findings.find import CHECKS, SEVERITY


def test_every_check_is_in_the_table() -> None:
    modules = [
        import_module(f"{findings.__name__}.{module.name}") for module in pkgutil.iter_modules(findings.__path__)
    ]
    written = {id(thing) for module in modules for thing in vars(module).values() if isinstance(thing, _CHECK)}
    assert written == {id(check) for check in CHECKS}


def test_a_kind_is_of_one_check_and_the_worst_come_first() -> None:
    kinds = [kind.name for check in CHECKS for kind in check.kinds]
    assert sorted(kinds) == sorted(SEVERITY)
    assert [*SEVERITY.values()] == sorted(SEVERITY.values(), key=SEVERITIES.index)


_CHECK = (ClusterCheck, GroupCheck, TopicCheck)

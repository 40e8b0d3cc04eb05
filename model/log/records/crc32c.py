"""CRC-32C, which v2 batches and producer snapshots carry: the one function of the `crc32c` package that is wanted.

The package's own `__init__` reads the metadata of what is installed and sets up a command line, which takes as long as
the CRCs of 500 MB of a log do. So its extension module is loaded by itself, where it is found.
"""

from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Protocol

from model.log.records.batch import Buffer


class _Crc32c(Protocol):
    def __call__(self, data: Buffer, value: int = 0, /) -> int: ...


def _loaded() -> _Crc32c:
    package = PathFinder.find_spec("crc32c")
    extension = package and PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if not extension or not extension.loader:  # the package is laid out in another way, or is none
        from crc32c import crc32c  # noqa: PLC0415

        return crc32c
    module = module_from_spec(extension)
    extension.loader.exec_module(module)
    return module.crc32c


crc32c = _loaded()
"""The CRC of some bytes, or with `value` of what that is the CRC of with the bytes behind it."""

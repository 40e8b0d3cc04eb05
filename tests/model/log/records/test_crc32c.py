"""CRC-32C is loaded without the package around it, and with it where the package is laid out in another way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from model.log.records.batch import crc32c

CHECK = 0xE3069283
"""Of b"123456789", by the catalogue of CRCs (CRC-32/ISCSI)."""


def test_the_crc_is_castagnolis() -> None:
    assert crc32c(b"123456789") == CHECK


def test_a_crc_goes_on_where_another_ended() -> None:
    assert crc32c(memoryview(b"456789"), crc32c(b"123")) == CHECK


def test_what_the_package_loads_for_its_own_command_line_is_not_loaded() -> None:
    seen = _python("import sys, model.log.records; print(*{'argparse', 'importlib.metadata'} & set(sys.modules))")
    assert seen.split() == []


def test_a_package_without_the_extension_is_used_as_it_is(tmp_path: Path) -> None:
    package = tmp_path / "crc32c"
    package.mkdir()
    (package / "__init__.py").write_text("def crc32c(data, value=0):\n    return 7 + value\n")
    used = _python(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from model.log.records.batch import crc32c; print(crc32c(b'', 1))"
    )
    assert used.strip() == "8"


def _python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout

"""The setting that turns notices off, and what is not a setting of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.engine.config import ConfigError, load_config


def test_notices_are_a_setting(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("")
    assert load_config(path).notices
    path.write_text("notices = false\n")
    assert not load_config(path).notices
    path.write_text('notices = "seldom"\n')
    with pytest.raises(ConfigError, match=r"notices.*bool"):
        load_config(path)

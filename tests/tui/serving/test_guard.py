"""Which requests are answered: those that a browser sends for this server's own page, by a name that is its own."""

from __future__ import annotations

import pytest

from tui.cli.serve import content_policy, refusal

NAMES = frozenset({"127.0.0.1:8000", "localhost:8000"})


@pytest.mark.parametrize("host", sorted(NAMES))
def test_its_own_page_is_answered(host: str) -> None:
    assert refusal(host, None, NAMES, is_socket=False) == ""
    assert refusal(host, f"http://{host}", NAMES, is_socket=False) == ""
    assert refusal(host, f"http://{host}", NAMES, is_socket=True) == ""


@pytest.mark.parametrize("host", ["", "127.0.0.1", "127.0.0.1:8001", "elsewhere.example:8000", "LOCALHOST:8000"])
@pytest.mark.parametrize("is_socket", [False, True])
def test_another_name_is_refused(host: str, is_socket: bool) -> None:
    assert "refused: this server answers only as" in refusal(host, f"http://{host}", NAMES, is_socket=is_socket)


@pytest.mark.parametrize("origin", ["", "null", "http://" + "elsewhere.example", "https://127.0.0.1:8000"])
@pytest.mark.parametrize("is_socket", [False, True])
def test_another_origin_is_refused(origin: str, is_socket: bool) -> None:
    assert "does not come from this server's own page" in refusal("127.0.0.1:8000", origin, NAMES, is_socket=is_socket)


def test_a_session_without_an_origin_is_refused() -> None:
    assert refusal("127.0.0.1:8000", None, NAMES, is_socket=True)
    assert refusal("127.0.0.1:8000", "http://localhost:8000", NAMES, is_socket=True)


def test_the_page_loads_from_nowhere_else() -> None:
    policy = dict(part.strip().split(" ", 1) for part in content_policy("127.0.0.1:8000", "once").split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "ws://127.0.0.1:8000"
    assert {source for sources in policy.values() for source in sources.split()} == {
        *("'none'", "'self'", "'unsafe-inline'", "'nonce-once'", "data:", "ws://127.0.0.1:8000")
    }
    assert "unsafe" not in policy["script-src"]

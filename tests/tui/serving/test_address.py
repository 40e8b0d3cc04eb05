"""Where `--serve` listens: loopback only, whatever is written; and what of a command line is its value."""

from __future__ import annotations

import pytest

from tui.cli.address import NotServed, ServeAddress, parse_address, with_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("8000", ("127.0.0.1", 8000)),
        ("0", ("127.0.0.1", 0)),
        (":8001", ("127.0.0.1", 8001)),
        ("localhost:8001", ("127.0.0.1", 8001)),
        ("127.0.0.1:8001", ("127.0.0.1", 8001)),
        ("127.9.9.9:65535", ("127.9.9.9", 65535)),
        ("[::1]:8001", ("::1", 8001)),
    ],
)
def test_loopback_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    ["0.0.0.0:8000", "[::]:8000", "192.168.0.1:8000", "10.0.0.1:80", "zk1:8000", "localhost.example:80", "127.1:80"],
)
def test_others_are_refused_with_the_way_out(text: str) -> None:
    with pytest.raises(NotServed, match=r"no password.*--serve 127\.0\.0\.1:\d+ .*ssh -L") as refused:
        parse_address(text)
    assert str(refused.value).startswith(repr(text))


@pytest.mark.parametrize("text", ["", "x", "65536", "-1", "1.5", "::1:8000", "127.0.0.1", "8000 ", "８０００"])  # noqa: RUF001
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(NotServed, match="for example: --serve"):
        parse_address(text)


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("", ""),
        ("--serve", "--serve=8000"),
        ("zk://zk1:2181 --serve", "zk://zk1:2181 --serve=8000"),
        ("--serve zk://zk1:2181", "--serve=8000 zk://zk1:2181"),
        ("--serve 9000 prod", "--serve=9000 prod"),
        ("--serve [::1]:9000 prod", "--serve=[::1]:9000 prod"),
        ("--serve 0.0.0.0:9000", "--serve=0.0.0.0:9000"),
        ("--serve --demo", "--serve=8000 --demo"),
        ("--serve=9000 1", "--serve=9000 1"),
        ("sandbox --serve --brokers 5", "sandbox --serve=8000 --brokers 5"),
        ("-- --serve 9000", "-- --serve 9000"),
    ],
)
def test_a_source_may_follow_the_bare_option(line: str, read: str) -> None:
    assert with_address(line.split()) == read.split()


def test_it_is_called_by_names_that_lead_nowhere_else() -> None:
    assert ServeAddress().names(8000) == {"127.0.0.1:8000", "localhost:8000"}
    assert ServeAddress("::1").names(80) == {"[::1]", "localhost"}
    assert ServeAddress("::1").url(8000) == "http://[::1]:8000/"

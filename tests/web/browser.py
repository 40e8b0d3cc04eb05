"""Headless Chromium, and the page's terminal as xterm.js has it. Fetches no browser: the machine's own is used."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

PATIENCE_MS = 60_000
TRIES = 6
SHOWS = "text => screenText().includes(text)"
ELSEWHERE = "elsewhere.example"
"""A name that leads to this machine, as far as the browser knows."""
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1",
)
HOOK = """
Object.defineProperty(Object.prototype, "webglAddon", {configurable: true, set(addon) {
    Object.defineProperty(this, "webglAddon", {value: addon, writable: true});
    window.screenText = () => {
        const terminal = this.terminal, lines = terminal.buffer.active;
        const line = (_, y) => lines.getLine(lines.viewportY + y)?.translateToString(true) ?? "";
        return Array.from({length: terminal.rows}, line).join("\\n");
    };
}});
"""
"""textual.js keeps its terminal to itself. The first thing that it hangs on it shows who it is."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Skips the test without Chromium; fails it then with KDRILL_REQUIRE_CONFORMANCE=1."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        reason = "there is no Chromium to show the dashboard in"
        if os.environ.get("KDRILL_REQUIRE_CONFORMANCE") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


class Tab:
    """One tab on the dashboard; `requests` are the addresses it asked for, `errors` what its scripts complained of."""

    def __init__(self, browser: Browser, url: str) -> None:
        context = browser.new_context(viewport={"width": 1200, "height": 700})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page: Page = context.new_page()
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.add_init_script(HOOK)
        self.page.goto(url)

    @property
    def text(self) -> str:
        """The screen."""
        return self.page.evaluate("screenText()")

    def shows(self, *texts: str) -> None:
        """Waits until the screen holds all of these."""
        for text in texts:
            try:
                self.page.wait_for_function(SHOWS, arg=text, timeout=PATIENCE_MS)
            except TimeoutError as error:
                raise AssertionError(f"{text!r} did not appear; on the screen:\n{self.text}\n{self.errors}") from error

    def says(self, note: str, do: Callable[[], object]) -> None:
        """Waits until what is done brings a note. Notes are soon gone: where the machine was too slow, once more."""
        for _ in range(TRIES):
            do()
            with suppress(TimeoutError):
                self.page.wait_for_function(SHOWS, arg=note, timeout=PATIENCE_MS / TRIES)
                return
        raise AssertionError(f"{note!r} was not said; on the screen:\n{self.text}\n{self.errors}")

    def press(self, *keys: str) -> None:
        """Presses keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def type_in(self, text: str) -> None:
        """Types."""
        self.page.keyboard.type(text)

    def command(self, text: str) -> None:
        """Types a command."""
        self.press(":")
        self.type_in(text)
        self.press("Enter")

    def close(self) -> None:
        """Closes the tab."""
        self.page.context.close()

"""A real browser before a real server. Chromium comes from the system; see ``make chromium``."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.world import USER, link, world

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-features=OptimizationHints,MediaRouter,DialMediaRouteProvider", "--disable-domain-reliability",
]  # fmt: skip
PATIENCE = 60_000
"""Milliseconds. Against hangs, not slowness: machines are shared."""
expect.set_options(timeout=PATIENCE)
SHOTS = Path(__file__).parents[2] / "build" / "screenshots"
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.fail("The browser tests need Chromium: run 'make chromium' as root, or install the package 'chromium'.")
    return found


@pytest.fixture(scope="package")  # Playwright keeps an event loop in this thread: it must end before tests that run one
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="package")
def served() -> Iterator[Any]:
    with world() as made:
        yield made


class Visit:
    """One signed-in browser window that notes everything that goes wrong in it."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context, self.address = context, address
        self.page: Page = context.new_page()
        self.problems: list[str] = []
        self.page.on("console", lambda said: said.type in ("error", "warning") and self.problems.append(said.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("requestfailed", self._failed)
        self.page.set_default_timeout(PATIENCE)

    def _failed(self, request: Any) -> None:
        if "/events" not in request.url and "ERR_ABORTED" not in str(request.failure):
            self.problems.append(f"{request.url}: {request.failure}")

    def see(self, path: str) -> Page:
        answer = self.page.goto(f"{self.address}{path}")
        assert answer is not None and answer.status == 200, (path, answer and answer.status)
        return self.page

    def view(self, name: str) -> Page:
        return self.see(f"/u/{USER}/{name}")


@pytest.fixture
def visit(browser: Browser, served: Any, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Signed in as the operator. ``@pytest.mark.parametrize("visit", ["phone"], indirect=True)`` for another size."""
    store, address, _ = served
    options = dict(getattr(request, "param", {}))
    width, height = SIZES[options.pop("size", "desktop")]
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    made = Visit(context, address)
    made.page.goto(link(store, address))
    yield made
    assert made.problems == []
    context.close()

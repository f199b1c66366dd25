"""Every view, on a desk and on a phone, in light and dark: no error, no overflow, nothing that axe calls serious."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

from tests.browser.conftest import SHOTS, Visit
from tests.browser.world import USER

VIEWS = {
    "home": "/",
    "memories": f"/u/{USER}/memories",
    "search": f"/u/{USER}/memories?q=What+is+Theo+allergic+to",
    "memory": "",
    "timeline": f"/u/{USER}/timeline",
    "people": f"/u/{USER}/people",
    "person": f"/u/{USER}/people/person:theo",
    "promises": f"/u/{USER}/promises",
    "companion": f"/u/{USER}/companion?persona=coach",
    "context": f"/u/{USER}/context?message=What+can+I+bake+for+Theo&budget=3000",
    "waiting": f"/u/{USER}/waiting",
    "privacy": f"/u/{USER}/privacy",
    "undo": f"/u/{USER}/privacy/undo?source=email",
    "empty": "/u/nobody-yet/memories",
    "system": "/system",
}
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
LOOKS = [
    {"size": "desktop", "color_scheme": "light"},
    {"size": "phone", "color_scheme": "light"},
    {"size": "desktop", "color_scheme": "dark"},
]


@pytest.mark.parametrize("visit", LOOKS, indirect=True, ids=["desktop", "phone", "dark"])
def test_every_view(visit: Visit, served: Any, request: pytest.FixtureRequest) -> None:
    look = request.node.callspec.id
    SHOTS.mkdir(parents=True, exist_ok=True)
    memory = served[0].user(USER).memories()[0].id
    for name, path in VIEWS.items():
        page = visit.see(path or f"/u/{USER}/memories/{memory}")
        assert page.locator("h1").count() == 1, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} overflows on {look}"
        page.evaluate(AXE)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        serious = [
            (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], (name, look)
        page.screenshot(path=SHOTS / f"{name}-{look}.png", full_page=True)


def test_nothing_comes_from_elsewhere(visit: Visit) -> None:
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    for path in VIEWS.values():
        if path:
            visit.see(path)
    assert asked and all(url.startswith(visit.address) for url in asked)

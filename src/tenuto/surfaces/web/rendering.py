"""Templates, and the few words that all of them use."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from tenuto.surfaces.http import names
from tenuto.surfaces.web import charts

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


@lru_cache(maxsize=1)
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("tenuto.surfaces.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"when": when, "day": day, "number": number, "words": words, "userpath": names.write}
    made.globals |= {"meter": charts.meter, "asset": asset}
    return made


def page(template: str, answer: int = 200, **values: Any) -> Response:
    """A rendered template, sent with the status ``answer``."""
    return HTMLResponse(environment().get_template(template).render(**values), answer)


@lru_cache(maxsize=16)
def static(name: str) -> tuple[bytes, str] | None:
    """A file of ours by its name: (bytes, media type)."""
    stem, _, kind = name.partition(".")
    if not stem.isalnum() or kind not in TYPES:
        return None
    found = files("tenuto.surfaces.web").joinpath("static", name)
    return (found.read_bytes(), TYPES[kind]) if found.is_file() else None


def asset(name: str) -> str:
    """Its address, which changes with its content."""
    found = static(name)
    return f"/static/{name}?v={sha256(found[0]).hexdigest()[:10]}" if found else f"/static/{name}"


def when(at: datetime | None) -> str:
    return "–" if at is None else f"{at:%-d %b %Y, %H:%M}"


def day(at: datetime | None) -> str:
    return "–" if at is None else f"{at:%-d %b %Y}"


def number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def words(value: object) -> str:
    """``only_when_relevant`` as people write it."""
    return str(value).replace("_", " ")

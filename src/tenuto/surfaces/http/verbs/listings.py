"""Every listing by page and every row by id, made from the one table of listings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, cast

from fastapi import Query, Response
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, create_model

from tenuto.access.decide import Need
from tenuto.facade.paging import LISTINGS, Listing
from tenuto.surfaces.http.answers import Listed, answer
from tenuto.surfaces.http.routing import Person, needs, router

routes = router("/api/users/{user}", "listings")
IN_PATHS = {"state_changes": "state-changes", "key_points": "key-points", "events": "event-log"}


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _query(what: str, listing: Listing) -> type[BaseModel]:
    """The query parameters of one listing."""
    orders = (listing.order, *(one for one in listing.orders if one != listing.order))
    given: dict[str, Any] = {name: (type_ | None, None) for name, type_ in listing.filters.items()}
    for name in listing.usual:
        said = "`*` for all; without it what the verb of the library shows."
        given[name] = (listing.filters[name] | Literal["*"] | None, Field(None, description=said))
    if listing.many:
        given["entity"] = (str | None, Field(None, examples=["person:dad"]))
    if listing.time:
        given |= {"since": (AwareDatetime | None, None), "until": (AwareDatetime | None, None)}
    given["persona"] = (str | None, Field(None, max_length=256))
    given["channel"] = given.get("channel", (str, "api"))
    given["order"] = (Literal[orders], listing.order)
    given["limit"] = (int, Field(50, ge=1, le=200))
    given["cursor"] = (str | None, Field(None, max_length=2048, description="`next` of the page before."))
    made: type[BaseModel] = create_model(f"{what.title().replace('_', '')}Query", __base__=_Asked, **given)
    return made


def _routes(what: str, listing: Listing) -> None:
    asked, path = _query(what, listing), IN_PATHS.get(what, what)

    def page(person: Person, query: Any) -> Response:
        given = query.model_dump(exclude={"persona"} | (set() if "channel" in listing.filters else {"channel"}))
        return answer(person.page(what, **given))

    def one(person: Person, id: str) -> Response:
        return answer(person.get(what, id))

    page.__annotations__["query"] = Annotated[asked, Query()]
    words, listed = what.replace("_", " "), cast("Any", Listed)
    _add(f"/{path}", page, f"list_{what}", listed[listing.type], f"{words.capitalize()}, a page at a time.")
    _add(f"/{path}/{{id}}", one, f"get_{what}", listing.type, f"One of the {words}.")


def _add(path: str, function: Callable[..., Response], name: str, model: Any, doc: str) -> None:
    function.__name__ = name
    routes.add_api_route(
        path, function, methods=["GET"], response_model=model, description=doc, operation_id=name, **needs(Need.READ)
    )


for _what, _listing in LISTINGS.items():
    _routes(_what, _listing)

"""A user's working memory, and their own keys for models."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import Response
from pydantic import Field

from tenuto.access.decide import Need
from tenuto.privacy.model_keys import KeyTest
from tenuto.records.workflow import ModelKey
from tenuto.surfaces.http.answers import answer
from tenuto.surfaces.http.bodies import Body
from tenuto.surfaces.http.routing import Person, needs, router

routes = router("/api/users/{user}", "working memory")


class Value(Body):
    value: Any = Field(description="Plain data; `null` takes it away.", examples=["in the car"])


class Brought(Body):
    key: str = Field(min_length=1, max_length=4096, description="Sealed at rest, used, and never shown again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    messages: list[dict[str, Any]]
    channel: str | None
    variables: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelKeyShown:
    """A model key without the key."""

    id: str
    fingerprint: str
    created_at: datetime
    tested_at: datetime | None
    working: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    removed: bool


def shown(key: ModelKey) -> ModelKeyShown:
    names = ("id", "fingerprint", "created_at", "tested_at", "working")
    return ModelKeyShown(**{name: getattr(key, name) for name in names})


@routes.get("/working", response_model=WorkingMemory, **needs(Need.READ))
def working(person: Person) -> Response:
    """The last messages on any channel, where the user was last heard, and what the application keeps at hand."""
    held = person.working
    return answer(WorkingMemory(messages=held.messages(), channel=held.channel, variables=held.variables))


@routes.put("/working/{name}", response_model=WorkingMemory, **needs(Need.WRITE))
def keep_at_hand(person: Person, name: str, body: Value) -> Response:
    """Keep a value at hand for as long as the conversation is alive; every context shows it to the model."""
    person.working.set(name, body.value)
    return working(person)


@routes.get("/model-keys", response_model=list[ModelKeyShown], **needs(Need.READ))
def model_keys(person: Person) -> Response:
    """The providers that the user brought a key for. The keys themselves are never shown."""
    return answer([shown(one) for one in person.model_keys.list()])


@routes.put("/model-keys/{provider}", response_model=ModelKeyShown, **needs(Need.WRITE))
def set_model_key(person: Person, provider: str, body: Brought) -> Response:
    """Keep the user's own key for a provider, sealed."""
    return answer(shown(person.model_keys.set(provider, body.key)))


@routes.post("/model-keys/{provider}/test", response_model=KeyTest, **needs(Need.WRITE, more=(502,)))
def try_model_key(person: Person, provider: str) -> Response:
    """Does the provider accept it? One request that spends nothing."""
    return answer(person.model_keys.test(provider))


@routes.delete("/model-keys/{provider}", response_model=Removed, **needs(Need.WRITE))
def remove_model_key(person: Person, provider: str) -> Response:
    """Forget the key for a provider."""
    return answer(Removed(removed=person.model_keys.remove(provider)))

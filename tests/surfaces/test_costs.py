"""What a model cost, day by day: extraction, and everything else that is asked."""

from __future__ import annotations

from datetime import UTC, datetime

from tenuto.ingest.extract.model import spent_by_day
from tenuto.testing.fakes import FakeClock, ScriptedModel
from tenuto.workflow import Field, define
from tests.surfaces.kit import make_store, served


def test_costs_are_counted_by_day_and_shown_to_the_operator() -> None:
    """What extraction asked of a model on two days, for two users; days and money add up, and nobody else sees them."""
    clock = FakeClock(datetime(2026, 3, 1, 9, 0, tzinfo=UTC))
    model = ScriptedModel(lambda system, user: '{"memories": []}')
    store = make_store(
        clock=clock, model=model, policy={"memory": {"model_input_price": 1000.0, "model_output_price": 2000.0}}
    )
    with served(store) as server:
        for day in range(2):
            for user in ("ana", "ben"):
                store.user(user).observe(f"My sister Mia, number {day}, has moved to Lisbon with her three cats.")
            store.settle()
            clock.advance(days=1)
        costs = server.get("/api/costs").json()
        assert list(costs) == ["2026-03-01", "2026-03-02"]
        assert all(spent["tokens"] > 0 and spent["money"] > 0 for spent in costs.values())
        own = spent_by_day
        with store.deps.store.reading("ana") as ana, store.deps.store.reading("ben") as ben:
            both = [own(ana)["2026-03-01"].tokens, own(ben)["2026-03-01"].tokens]
        assert sum(both) == costs["2026-03-01"]["tokens"] and min(both) > 0
        assert server.get("/api/costs", caller="app").status_code == 403
        page = server.get("/system")
        assert page.status_code == 200 and "Tokens of the model, day by day" in page.text and "money" in page.text


def test_what_closing_and_typed_work_ask_of_a_model_is_counted_too() -> None:
    clock = FakeClock(datetime(2026, 3, 1, 9, 0, tzinfo=UTC))
    said = '{"memories": []}'
    model = ScriptedModel(lambda system, user: said)
    with served(make_store(clock=clock, model=model)) as server:
        ana = server.store.user("ana")
        for n in range(4):
            ana.observe(f"Good morning, number {n}: the garden is lovely and the roses bloom again.")
        server.store.settle()

        def unexplained() -> float:
            """What the costs hold beyond all that was asked of the model so far."""
            asked = sum(len(system + user) // 4 + len(said) // 4 for system, user in model.requests)
            return float(server.get("/api/costs").json()["2026-03-01"]["tokens"]) - asked

        extracted = len(model.requests)
        assert unexplained() == 0
        ana.close_session()
        server.store.settle()
        closed = len(model.requests)
        assert closed > extracted and unexplained() == 0
        dish = {"type": "object", "properties": {"dish": {"type": "string"}}, "required": ["dish"]}
        ana.workflow(define("order", dish, fields={"dish": Field()}), model=model).send("Soup would be nice, I think")
        assert len(model.requests) > closed and unexplained() == 0

import json
from pathlib import Path
from typing import Any

import pytest
from examples.coding_exercises import ACTIVITY
from examples.patient_intake import INTAKE
from pydantic import BaseModel, field_validator, model_validator
from pydantic import Field as Limits

from tenuto.errors import Conflict, InputError
from tenuto.workflow import Field, Machine, Migration, Rule, define, from_data, load
from tenuto.workflow.definition import migrate
from tenuto.workflow.registry import Definitions

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/$defs/word"}},
    "required": ["a"],
    "$defs": {"word": {"type": "string", "maxLength": 3}},
}


class Span(BaseModel):
    low: int = Limits(ge=0)
    high: int
    label: str = "x"

    @field_validator("label")
    @classmethod
    def no_shouting(cls, value: str) -> str:
        if value.isupper():
            raise ValueError("no shouting")
        return value

    @model_validator(mode="after")
    def ordered(self) -> "Span":
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


class Guarded(BaseModel):
    first: int
    second: int

    @model_validator(mode="before")
    @classmethod
    def only_both(cls, data: Any) -> Any:
        if "second" not in data:
            raise ValueError("needs both")
        return data


def test_missing_invalid_and_inconsistent_are_told_apart() -> None:
    span = define("span", Span)
    assert span.judge({}).missing == ("low", "high")
    assert span.judge({"low": 3}).missing == ("high",)
    assert span.judge({"low": 3}).invalid == {}
    assert set(span.judge({"low": -1}).invalid) == {"low"}
    assert set(span.judge({"low": "1"}).invalid) == {"low"}, "values are judged strictly"
    assert set(span.judge({"low": 1, "label": "LOUD"}).invalid) == {"label"}, "the model's own validators run"
    verdict = span.judge({"low": 3, "high": 1})
    assert [clash.message for clash in verdict.clashes] == ["low is above high"]
    assert span.judge({"low": 1, "high": 3}).complete


def test_a_validator_that_runs_first_does_not_hide_an_invalid_field() -> None:
    guarded = define("guarded", Guarded)
    assert set(guarded.judge({"first": "x"}).invalid) == {"first"}
    assert guarded.judge({"first": 1}).missing == ("second",)


def test_a_json_schema_says_the_same() -> None:
    plain = define("plain", SCHEMA)
    assert plain.judge({}).missing == ("a",)
    assert set(plain.judge({"a": True}).invalid) == {"a"}
    assert set(plain.judge({"a": 1, "b": "long"}).invalid) == {"b"}
    assert plain.judge({"a": 1, "b": "ok"}).complete
    dated = define("dated", {"type": "object", "properties": {"on": {"type": "string", "format": "date"}}})
    assert set(dated.judge({"on": "2026-02-30"}).invalid) == {"on"}
    assert dated.judge({"on": "2026-02-28"}).complete


LOST = Machine(initial="A", transitions={"A": ("B",), "B": (), "LOST": ()}, collecting=frozenset("A"))


def _never(spec: Any) -> None:
    return None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"fields": {"c": Field()}}, "'c'"),
        ({"rules": [Rule(name="r", fields=("zz",), check=_never)]}, "'zz'"),
        ({"rules": [Rule(name="r", fields=(), check=_never)]}, "no field"),
        ({"rules": [Rule(name="r", fields=("a",), check=_never)] * 2}, "two rules"),
        ({"version": 0}, "from 1"),
        ({"version": True}, "from 1"),
        ({"migrations": [Migration(to=2)]}, "version 2"),
        ({"fields": {"a": Field(hard=True, fixed=True)}}, "fixed"),
        ({"fields": {"a": Field(hard=True, derive=_never)}}, "derived"),
        ({"fields": {"a": Field(lock_at=1.5)}}, "1.5"),
        (
            {"machine": Machine(initial="A", transitions={"A": ("B",), "B": (), "C": ()}, collecting=frozenset("A"))},
            "C",
        ),
    ],
)
def test_a_definition_that_is_not_sound_is_refused_by_name(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        define("d", SCHEMA, **arguments)
    assert said in str(refused.value)
    assert refused.value.code == "definition_invalid"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "nonsense"}}},
        {"type": "object", "properties": {"a": {}}, "required": ["b"]},
        {"type": "object", "properties": {"__proto__": {}}},
        {"type": "object", "properties": {"white space": {}}},
        dict,
        "text",
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: Any) -> None:
    with pytest.raises(InputError) as refused:
        define("d", schema)
    assert refused.value.code == "definition_invalid"


def test_an_older_workflow_is_migrated_step_by_step() -> None:
    newest = define(
        "d",
        SCHEMA,
        version=3,
        migrations=[
            Migration(to=2, spec=lambda spec: {"a": spec["old"]}),
            Migration(to=3, spec=lambda spec: {**spec, "b": "new"}, states={"BEGUN": "CLARIFYING"}),
        ],
    )
    assert migrate(newest, 1, "BEGUN", {"old": 7}) == ("CLARIFYING", {"a": 7, "b": "new"})
    assert migrate(newest, 3, "READY", {"a": 7}) == ("READY", {"a": 7})


@pytest.mark.parametrize(
    ("version", "state", "spec", "said"),
    [
        (9, "DRAFT", {}, "update the program"),
        (1, "DRAFT", {}, "no migration to version 2"),
        (2, "GONE", {}, "GONE"),
        (2, "DRAFT", {"c": 1}, "'c'"),
        (2, "DRAFT", {"a": "x"}, "'a'"),
        (2, "READY", {}, "complete"),
    ],
)
def test_a_workflow_that_does_not_fit_is_refused_clearly(version: int, state: str, spec: Any, said: str) -> None:
    newest = define("d", SCHEMA, version=2)
    with pytest.raises(Conflict) as refused:
        migrate(newest, version, state, spec)
    assert said in str(refused.value)
    assert refused.value.code == "workflow_version"


def test_a_derived_field_follows_the_others() -> None:
    doubled = define("d", SCHEMA, fields={"b": Field(derive=lambda spec: "x" * spec["a"])})
    assert doubled.derived({"a": 2}) == {"a": 2, "b": "xx"}
    assert doubled.derived({"a": 2, "b": "forged"}) == {"a": 2, "b": "xx"}
    assert doubled.derived({"a": 9}) == {"a": 9}, "a derived value that does not fit is left out"
    assert doubled.derived({}) == {}


def test_definitions_come_from_files(tmp_path: Path) -> None:
    assert INTAKE.version == 2
    assert INTAKE.fields["allergies"].hard
    assert INTAKE.fields["clinic"].fixed
    assert migrate(INTAKE, 1, "OPEN", {"drugs": ["x"], "shoe_size": 9}) == ("OPEN", {"medication": ["x"]})
    toml = tmp_path / "trip.toml"
    toml.write_text(
        """
name = "trip"
[schema]
type = "object"
required = ["start", "end", "plan", "total"]
[schema.properties]
start = {type = "string", format = "date"}
end = {type = "string", format = "date"}
days = {type = "integer"}
plan = {type = "object"}
total = {type = "integer"}
[fields.days.derive]
days_between = ["start", "end"]
[[rules]]
name = "dates"
ordered = ["start", "end"]
[[rules]]
name = "sum"
sum_of = "plan"
equals = "total"
"""
    )
    trip = load(toml)
    spec = trip.derived({"start": "2026-01-01", "end": "2026-01-03", "plan": {"x": 1, "y": 2}, "total": 4})
    assert spec["days"] == 3
    assert [clash.rule for clash in trip.judge(spec).clashes] == ["sum"]
    assert [clash.rule for clash in trip.judge({"start": "2026-02-01", "end": "2026-01-03"}).clashes] == ["dates"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schemas": {}}, "did you mean 'schema'"),
        ({"fields": {"a": {"hrad": True}}}, "did you mean 'hard'"),
        ({"rules": [{"name": "r"}]}, "sum_of"),
        ({"machine": {"initial": "A"}}, "collecting"),
        ({"fields": 3}, "wrong form"),
        ({"rules": 3}, "wrong form"),
        ({"schema": None}, "JSON Schema"),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_the_key(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        from_data({"name": "d", "schema": SCHEMA, **change})
    assert said in str(refused.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00", '{"name": 1}', "[" * 100_000])
def test_a_file_that_is_no_definition_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "d.json"
    file.write_text(text)
    with pytest.raises(InputError) as refused:
        load(file)
    assert refused.value.code == "definition_invalid"
    with pytest.raises(InputError):
        load(tmp_path / "nothing.json")


def test_a_name_stands_for_one_definition() -> None:
    known = Definitions()
    known.add(define("d", SCHEMA))
    known.add(define("d", SCHEMA))
    with pytest.raises(Conflict):
        known.add(define("d", {"type": "object", "properties": {"z": {}}}))
    newer = define("d", {"type": "object", "properties": {"z": {}}}, version=2)
    assert known.add(newer) is known.get("d")
    with pytest.raises(Conflict):
        known.add(define("d", SCHEMA))


def test_a_built_spec_has_the_models_type() -> None:
    spec = {"language": "sql", "problem_count": 1, "difficulty_plan": {"easy": 1}, "topic": "joins"}
    built = ACTIVITY.shape.build(spec)
    assert built.difficulty_plan.easy == 1
    assert built.style == "return"
    assert json.loads(built.model_dump_json())["topic"] == "joins"

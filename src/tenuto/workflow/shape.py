"""What a full spec looks like: a Pydantic model or a JSON Schema, behind one small face.

A draft is judged as a whole and each complaint is put where it belongs: a field that is not there yet is *missing*, a
field whose value is wrong by itself is *invalid*, fields that are right one by one and wrong together are
*inconsistent*. A stored draft never has an invalid field; it may be missing some or contradict itself while it is
collected. Values are plain JSON and are judged strictly: "5" is not the number 5.

Both libraries are optional (``pip install 'tenuto[workflow]'``) and imported only when a definition needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib import import_module
from typing import Annotated, Any, Protocol

import msgspec

from tenuto.errors import InputError, SettingError

OTHER_FORM = "it has another form than the one that is asked for"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Fields that do not fit together, and why."""

    rule: str
    fields: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is wrong with a draft."""

    missing: tuple[str, ...] = ()
    invalid: Mapping[str, str] = field(default_factory=dict)
    clashes: tuple[Clash, ...] = ()

    @property
    def complete(self) -> bool:
        return not (self.missing or self.invalid or self.clashes)


class Shape(Protocol):
    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the full spec."""

    @property
    def fields(self) -> Mapping[str, Mapping[str, Any]]:
        """The schema of each field, references resolved, in order."""

    @property
    def required(self) -> tuple[str, ...]: ...

    def judge(self, spec: Mapping[str, Any]) -> Verdict: ...

    def build(self, spec: Mapping[str, Any]) -> Any:
        """The full spec as the caller's own type."""


def shape_of(source: Any) -> Shape:
    """A Pydantic model class, or a JSON Schema as a mapping."""
    if isinstance(source, Mapping):
        return SchemaShape(source)
    if isinstance(source, type) and hasattr(source, "model_json_schema"):
        return ModelShape(source)
    raise InputError(
        f"A workflow is defined by a Pydantic model class or a JSON Schema, not by {type(source).__name__}.",
        code="definition_invalid",
    )


class ModelShape:
    """A Pydantic model. Its own validators run: a model validator that fails is a clash."""

    def __init__(self, model: Any) -> None:
        pydantic = _library("pydantic")
        self._model = model
        self._error: type[Exception] = pydantic.ValidationError
        try:
            self.schema: Mapping[str, Any] = model.model_json_schema()
        except pydantic.errors.PydanticInvalidForJsonSchema as error:
            raise InputError(
                f"{model.__name__} cannot be written as JSON: {error}.", code="definition_invalid"
            ) from None
        self.fields, self.required = _fields(self.schema)
        self._adapters = {
            name: pydantic.TypeAdapter(_annotated(info))
            for name, info in ((_key(name, info), info) for name, info in model.model_fields.items())
        }

    def judge(self, spec: Mapping[str, Any]) -> Verdict:
        try:
            self._model.model_validate_json(msgspec.json.encode(spec), strict=True)
        except self._error as error:
            problems: list[dict[str, Any]] = error.errors(include_url=False, include_input=False)  # type: ignore[attr-defined]
        else:
            return Verdict()
        missing: list[str] = []
        invalid: dict[str, str] = {}
        clashes: list[Clash] = []
        for problem in problems:
            where = problem["loc"]
            if not where:
                touched = tuple(name for name in (problem.get("ctx") or {}).get("fields", ()) if name in self.fields)
                clashes.append(Clash(rule=problem["type"], fields=touched, message=_plain(problem["msg"])))
            elif len(where) == 1 and problem["type"] == "missing":
                missing.append(str(where[0]))
            else:
                invalid.setdefault(str(where[0]), _in_words(problem))
        if clashes:
            # A validator that runs before the fields hides them: each is judged by itself.
            invalid |= self._judge_each(spec)
            missing = [name for name in self.required if name not in spec]
            if missing:
                clashes = []
        return Verdict(missing=tuple(missing), invalid=invalid, clashes=tuple(clashes))

    def _judge_each(self, spec: Mapping[str, Any]) -> dict[str, str]:
        invalid = {}
        for name, value in spec.items():
            try:
                if name in self._adapters:
                    self._adapters[name].validate_json(msgspec.json.encode(value), strict=True)
            except self._error as error:
                invalid[name] = _in_words(error.errors(include_url=False, include_input=False)[0])  # type: ignore[attr-defined]
        return invalid

    def build(self, spec: Mapping[str, Any]) -> Any:
        return self._model.model_validate_json(msgspec.json.encode(spec), strict=True)


class SchemaShape:
    """A JSON Schema (2020-12 unless it says otherwise) of type ``object``. Remote references are not fetched."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        jsonschema = _library("jsonschema")
        self.schema = dict(schema)
        kind = jsonschema.validators.validator_for(self.schema, default=jsonschema.Draft202012Validator)
        try:
            kind.check_schema(self.schema)
        except jsonschema.SchemaError as error:
            raise InputError(f"This is not a JSON Schema: {error.message[:300]}.", code="definition_invalid") from None
        if self.schema.get("type", "object") != "object":
            raise InputError("The JSON Schema of a workflow describes an object.", code="definition_invalid")
        self.fields, self.required = _fields(self.schema)
        if unknown := [name for name in self.required if name not in self.fields]:
            raise InputError(f"The schema requires '{unknown[0]}', which has no property.", code="definition_invalid")
        present = {name: value for name, value in self.schema.items() if name != "required"}
        self._validator = kind(present, format_checker=_formats(jsonschema))

    def judge(self, spec: Mapping[str, Any]) -> Verdict:
        missing = tuple(name for name in self.required if name not in spec)
        invalid: dict[str, str] = {}
        clashes = []
        for error in self._validator.iter_errors(dict(spec)):
            if error.absolute_path:
                invalid.setdefault(str(error.absolute_path[0]), _without_patterns(error))
            elif not missing:
                clashes.append(Clash(rule=str(error.validator), fields=(), message=_without_patterns(error)))
        return Verdict(missing=missing, invalid=invalid, clashes=tuple(clashes))

    def build(self, spec: Mapping[str, Any]) -> Any:
        return dict(spec)


def _fields(schema: Mapping[str, Any]) -> tuple[dict[str, Mapping[str, Any]], tuple[str, ...]]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise InputError("The definition has no fields: give its schema 'properties'.", code="definition_invalid")
    fields = {name: resolve(part, schema) for name, part in properties.items()}
    return fields, tuple(name for name in schema.get("required", ()))


def resolve(part: Any, root: Mapping[str, Any], depth: int = 0) -> Mapping[str, Any]:
    """A field's schema with local references followed and "or null" taken off."""
    if not isinstance(part, Mapping) or depth > 16:
        return {}
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for step in reference[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(target, Mapping) else {}
        beside = {name: value for name, value in part.items() if name != "$ref"}
        named = {name: value for name, value in resolve(target, root, depth + 1).items() if name != "title"}
        return {**named, **beside}
    options = [option for option in part.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        beside = {name: value for name, value in part.items() if name not in ("anyOf", "default")}
        return {**beside, **resolve(options[0], root, depth + 1)}
    return dict(part)


def _key(name: str, info: Any) -> str:
    alias = info.validation_alias or info.alias
    return alias if isinstance(alias, str) else name


def _annotated(info: Any) -> Any:
    return Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation


def _in_words(problem: Mapping[str, Any]) -> str:
    """A complaint of Pydantic for people."""
    return OTHER_FORM if problem["type"] == "string_pattern_mismatch" else _plain(problem["msg"])


def _without_patterns(error: Any) -> str:
    """A complaint of a JSON Schema for people: an example where the schema has one, never a regular expression."""
    if error.validator == "pattern":
        examples = error.schema.get("examples") if isinstance(error.schema, Mapping) else None
        return f"{OTHER_FORM}, such as {examples[0]!r}" if isinstance(examples, list) and examples else OTHER_FORM
    if error.validator in ("additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties"):
        return "it has a part that is not known"
    return "it fits none of its forms" if error.validator in ("anyOf", "oneOf", "not") else str(error.message)[:300]


def _plain(message: str) -> str:
    for prefix in ("Value error, ", "Assertion failed, "):
        message = message.removeprefix(prefix)
    return message[:300]


def _formats(jsonschema: Any) -> Any:
    """The formats that are checked: dates and times by Python's own ISO parser."""
    checker = jsonschema.FormatChecker(formats=())

    @checker.checks("date", raises=ValueError)  # type: ignore[untyped-decorator]
    def is_date(value: object) -> bool:
        return not isinstance(value, str) or (len(value) == 10 and bool(date.fromisoformat(value)))

    @checker.checks("date-time", raises=ValueError)  # type: ignore[untyped-decorator]
    def is_moment(value: object) -> bool:
        return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None

    @checker.checks("email")  # type: ignore[untyped-decorator]
    def is_address(value: object) -> bool:
        return not isinstance(value, str) or (value.count("@") == 1 and all(value.split("@")))

    return checker


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise SettingError(
            f"This workflow needs the library '{name}': pip install 'tenuto[workflow]'.", code="missing_library"
        ) from None

"""The one place that reads files and the environment.

A setting is ``group.name`` of :class:`tenuto.policy.Policy`: ``TENUTO_SESSION__IDLE_CLOSE=900`` in the environment,
``[session] idle_close = 900`` in a TOML file named by ``TENUTO_CONFIG``, ``{"session": {"idle_close": 900}}`` as an
argument. Later wins: defaults, file, environment, argument. Durations are seconds. An unknown name in a file or an
argument is an error that names it and the closest known one; in the environment, which other programs and other
versions share, it is a warning (``tenuto --strict`` makes it an error).
"""

from __future__ import annotations

import difflib
import logging
import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import timedelta
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from tenuto.errors import SettingError
from tenuto.policy import DEFAULT, Policy

PREFIX = "TENUTO_"
CONNECTION = (
    *("DB", "REDIS", "MODEL", "MODEL_KEY", "MODEL_KEYS", "MODEL_FILE", "CONFIG", "KEYS", "KEY", "EMBEDDER", "USER"),
    *("UPSTREAM", "UPSTREAM_KEY", "PROXY_KEY"),
    *("WEBHOOK_SECRET", "MAILBOX_PASSWORD", "SMTP", "SMTP_SENDER", "SMTP_PASSWORD"),
)
"""Environment names without a group: where the store is, what it uses, whom it is about."""
ELSEWHERE = ("TEST_", "BENCH_", "MINILM_", "MODEL_HUB", "E5_")
"""Beginnings of names that the tests, the benchmarks and the builds read."""
SIGNED = ("importance.short", "agent.mood")
"""Settings that may be negative."""
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
LOG = logging.getLogger("tenuto.settings")
YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def environment() -> dict[str, str]:
    """The variables that are ours."""
    return {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}


def connection(name: str, env: Mapping[str, str] | None = None) -> str | None:
    """A connection setting such as ``db`` (``TENUTO_DB``)."""
    found = (environment() if env is None else env).get(PREFIX + name.upper())
    return found or None


def secret(name: str) -> str | None:
    """A provider's key by the name that its vendor uses, such as ``OPENAI_API_KEY``."""
    return os.environ.get(name) or None


def metrics_folder() -> str | None:
    """Where the processes of one server keep their metrics, by the name that ``prometheus_client`` reads."""
    return os.environ.get(METRICS_FOLDER) or None


def share_metrics(folder: str) -> None:
    """Name that folder to the processes that are started from here on."""
    os.environ[METRICS_FOLDER] = folder


def load(overrides: Policy | Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None) -> Policy:
    """The policy in force: defaults, then the file, then the environment, then ``overrides``."""
    if isinstance(overrides, Policy):
        return overrides
    env = environment() if env is None else env
    policy = Policy()
    if path := env.get(PREFIX + "CONFIG"):
        policy = merge(policy, _read_file(Path(path)), where=path)
    groups, unknown = _from_environment(env)
    for line in unknown:
        LOG.warning("%s It is left out.", line)
    policy = merge(policy, groups, where="the environment")
    return merge(policy, overrides or {}, where="policy")


def merge(policy: Policy, groups: Mapping[str, Any], *, where: str) -> Policy:
    """``policy`` with the named settings replaced."""
    for group, values in groups.items():
        known = {part.name for part in fields(Policy)}
        if group not in known:
            raise SettingError(_unknown(group, known, where))
        current = getattr(policy, group)
        if is_dataclass(values) and isinstance(values, type(current)):
            policy = _with(policy, group, values)
            continue
        if not isinstance(values, Mapping):
            raise SettingError(f"{where}: '{group}' is a group of settings and takes a table, not {values!r}.")
        policy = _with(policy, group, _merge_group(current, group, values, where))
    return policy


def _with(policy: Policy, group: str, values: Any) -> Policy:
    return replace(policy, **{group: values})


def _merge_group(current: Any, group: str, values: Mapping[str, Any], where: str) -> Any:
    hints = get_type_hints(type(current))
    changed = {}
    for name, value in values.items():
        if name not in hints:
            raise SettingError(_unknown(f"{group}.{name}", {f"{group}.{known}" for known in hints}, where))
        changed[name] = _convert(value, hints[name], f"{group}.{name}", where)
    return replace(current, **changed)


def _convert(value: Any, wanted: Any, name: str, where: str) -> Any:
    kinds = get_args(wanted) if isinstance(wanted, UnionType) else (wanted,)
    if NoneType in kinds and (value is None or value == ""):
        return None
    kind = next(part for part in kinds if part is not NoneType)
    try:
        converted = _as_kind(value, kind)
    except (TypeError, ValueError, OverflowError):
        unit = "a number of seconds" if kind is timedelta else f"a value of type {getattr(kind, '__name__', kind)}"
        raise SettingError(f"{where}: setting '{name}' takes {unit}, not {value!r}.") from None
    number = converted.total_seconds() if isinstance(converted, timedelta) else converted
    if isinstance(number, (int, float)):
        if not math.isfinite(number):
            raise SettingError(f"{where}: setting '{name}' takes a finite number, not {value!r}.")
        if number < 0 and name not in SIGNED:
            raise SettingError(f"{where}: setting '{name}' cannot be negative, and is {value!r}.")
    return converted


def _as_kind(value: Any, kind: type) -> Any:
    if kind is timedelta:
        return value if isinstance(value, timedelta) else timedelta(seconds=float(value))
    if kind is bool:
        word = str(value).lower()
        if word not in YES + NO:
            raise ValueError
        return word in YES
    if get_origin(kind) is not None:
        return msgspec.convert(msgspec.json.decode(value) if isinstance(value, str) else value, type=kind)
    if kind is int:
        if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
            raise ValueError
        return int(value)
    return kind(value)


def check_environment(env: Mapping[str, str] | None = None) -> None:
    """Refuse names in the environment that mean nothing: ``tenuto --strict``."""
    _, unknown = _from_environment(environment() if env is None else env)
    if unknown:
        raise SettingError(" ".join(unknown))


def _from_environment(env: Mapping[str, str]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The settings by group, and what to say about each name that is no setting."""
    groups: dict[str, dict[str, str]] = {}
    unknown: list[str] = []
    settings = {f"{group.name}.{name}" for group in fields(Policy) for name in get_type_hints(_class_of(group.name))}
    known = {PREFIX + name.upper().replace(".", "__") for name in settings} | {PREFIX + name for name in CONNECTION}
    for name, value in env.items():
        rest = name.removeprefix(PREFIX)
        if rest in CONNECTION or rest.startswith(ELSEWHERE):
            continue
        group, _, setting = rest.lower().partition("__")
        if f"{group}.{setting}" in settings:
            groups.setdefault(group, {})[setting] = value
        else:
            unknown.append(_unknown(name, known, "the environment"))
    return groups, unknown


def _class_of(group: str) -> type:
    return type(getattr(DEFAULT, group))


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"the settings file {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"the settings file {path} is not valid TOML: {error}.") from error


def _unknown(name: str, known: set[str], where: str) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else " docs/settings.md lists them all."
    return f"{where}: unknown setting '{name}'.{hint}"

"""Settings: defaults, file, environment, argument, in this order; a wrong one is an error that names it."""

import ast
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from tenuto import settings
from tenuto.errors import SettingError
from tenuto.policy import Policy, SessionPolicy


def test_nothing_given_means_the_defaults():
    assert settings.load(env={}) == Policy()


def test_later_wins(tmp_path: Path):
    file = tmp_path / "tenuto.toml"
    file.write_text("[session]\nidle_close = 100\ngrace = 200\nmin_new_turns = 9\n[context]\nbudget = 4000\n")
    env = {"TENUTO_CONFIG": str(file), "TENUTO_SESSION__GRACE": "300", "TENUTO_CONTEXT__BUDGET": "5000"}
    policy = settings.load({"context": {"budget": 6000}}, env)
    assert policy.session.idle_close == timedelta(seconds=100)
    assert policy.session.grace == timedelta(seconds=300)
    assert policy.session.min_new_turns == 9
    assert policy.context.budget == 6000
    assert policy.recall == Policy().recall


def test_a_whole_policy_is_taken_as_it_is():
    policy = Policy(session=SessionPolicy(idle_close=timedelta(minutes=1)))
    assert settings.load(policy, {"TENUTO_SESSION__IDLE_CLOSE": "5"}) is policy
    assert settings.load({"session": policy.session}, {}).session is policy.session


def written(value: object) -> str:
    if isinstance(value, timedelta):
        return str(value.total_seconds())
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(value)
    return "" if value is None else str(value)


@pytest.mark.parametrize("group", [part.name for part in fields(Policy)])
def test_every_setting_can_be_given_as_text(group: str):
    """The environment only has text: each value, written down, is read back as it was."""
    defaults = getattr(Policy(), group)
    for part in fields(defaults):
        value = getattr(defaults, part.name)
        text = written(value)
        env = {f"TENUTO_{group.upper()}__{part.name.upper()}": text}
        assert getattr(getattr(settings.load(env=env), group), part.name) == value, part.name


def test_a_table_is_json_in_the_environment():
    env = {"TENUTO_AGENT__PERSONAS": '{"coach": {"mood": 0.5}}'}
    assert settings.load(env=env).agent.personas == {"coach": {"mood": 0.5}}
    for wrong in ("{", "[1]", '{"coach": 5}'):
        with pytest.raises(SettingError, match=r"agent\.personas"):
            settings.load(env={"TENUTO_AGENT__PERSONAS": wrong})


def test_values_that_may_be_absent():
    assert settings.load({"retention": {"purge_text": 60}}, {}).retention.purge_text == timedelta(seconds=60)
    assert settings.load({"retention": {"purge_text": None}}, {}).retention.purge_text is None


@pytest.mark.parametrize(("text", "value"), [("yes", True), ("TRUE", True), ("1", True), ("off", False), ("0", False)])
def test_words_for_yes_and_no(text: str, value: bool):
    assert settings.load(env={"TENUTO_AGENT__OUTREACH": text}).agent.outreach is value


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("TENUTO_SESSION__IDLE_CLOSE", "soon", "session.idle_close' takes a number of seconds"),
        ("TENUTO_SESSION__IDLE_CLOSE", "-1", "session.idle_close' cannot be negative"),
        ("TENUTO_SESSION__IDLE_CLOSE", "inf", "session.idle_close'"),
        ("TENUTO_RECALL__SIMILARITY_FLOOR", "nan", "recall.similarity_floor' takes a finite number"),
        ("TENUTO_CONTEXT__BUDGET", "1.5", "context.budget' takes a value of type int"),
        ("TENUTO_AGENT__OUTREACH", "maybe", "agent.outreach' takes a value of type bool"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str, said: str):
    with pytest.raises(SettingError) as caught:
        settings.load(env={name: value})
    assert said in caught.value.message and caught.value.code == "invalid_setting"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TENUTO_SESION__IDLE_CLOSE", "TENUTO_SESSION__IDLE_CLOSE"),
        ("TENUTO_SESSION__IDLE_CLOS", "TENUTO_SESSION__IDLE_CLOSE"),
        ("TENUTO_DBB", "TENUTO_DB"),
    ],
)
def test_an_unknown_name_in_the_environment_warns_and_is_left_out(
    name: str, meant: str, caplog: pytest.LogCaptureFixture
):
    env = {name: "5", "TENUTO_SESSION__IDLE_CLOSE": "7"}
    assert settings.load(env=env).session.idle_close == timedelta(seconds=7)
    (warning,) = caplog.messages
    assert f"unknown setting '{name}'. Did you mean '{meant}'?" in warning
    with pytest.raises(SettingError, match=f"Did you mean '{meant}'"):
        settings.check_environment(env)


def test_known_names_in_the_environment_do_not_warn(caplog: pytest.LogCaptureFixture):
    env = {"TENUTO_DB": "x", "TENUTO_SESSION__IDLE_CLOSE": "7", "TENUTO_MINILM_FILES": "y", "TENUTO_TEST_CASES": "1"}
    settings.load(env=env)
    settings.check_environment(env)
    assert caplog.messages == []


def test_a_file_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(SettingError, match="cannot be read"):
        settings.load(env={"TENUTO_CONFIG": str(tmp_path / "none.toml")})
    broken = tmp_path / "broken.toml"
    broken.write_text("[session")
    with pytest.raises(SettingError, match="not valid TOML"):
        settings.load(env={"TENUTO_CONFIG": str(broken)})
    broken.write_text("[session]\nidle = 5\n")
    with pytest.raises(SettingError, match=r"broken\.toml: unknown setting 'session\.idle'"):
        settings.load(env={"TENUTO_CONFIG": str(broken)})


def test_the_environment_is_read_by_name(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TENUTO_DB", "/tmp/x.db")
    monkeypatch.setenv("TENUTO_SESSION__IDLE_CLOSE", "7")
    assert settings.connection("db") == "/tmp/x.db"
    assert settings.load().session.idle_close == timedelta(seconds=7)


def numbers(policy: object) -> Iterator[str]:
    for one in fields(policy):  # type: ignore[arg-type]
        value = getattr(policy, one.name)
        yield from numbers(value) if is_dataclass(value) else (one.name,)


def test_every_number_is_read():
    """A setting that nothing reads promises what does not happen."""
    source = Path(settings.__file__).parent
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in source.rglob("*.py") if path.name != "policy.py"]
    read = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert set(numbers(Policy())) - read == set()

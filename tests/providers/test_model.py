"""Models over real connections: what is sent, what comes back, and every way to fail is one error."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from tests.upstream import Served, Step, Upstream

from tenuto.errors import ModelError, SettingError
from tenuto.policy import ModelPolicy
from tenuto.providers.model import CallableModel, as_model, parse_model
from tenuto.providers.model_anthropic import AnthropicModel
from tenuto.providers.model_openai import OpenAIModel
from tenuto.records.context import Context

KEY = "sk-very-secret"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
POLICY = ModelPolicy()


@pytest.fixture(scope="module")
def served():
    upstream = Upstream()
    with Served(upstream.app()) as server:
        yield upstream, server


@pytest.fixture
def upstream(served):
    served[0].script()
    served[0].asked.clear()
    served[0].headers.clear()
    return served[0]


@pytest.fixture(params=["openai", "anthropic"])
def model(request, served, upstream):
    made = make(request.param, served[1].url)
    yield made
    made.close()


def make(kind: str, url: str, **options):
    options = {"timeout": timedelta(seconds=5), "retries": 1, "key": KEY} | options
    if kind == "openai":
        return OpenAIModel("scripted", base_url=f"{url}/v1", **options)
    return AnthropicModel("scripted", base_url=url, **options)


def context() -> Context:
    return Context(
        stable="You are a coach.",
        volatile="user: before\n\nIt is Monday.\n\nuser: Now?",
        turns=({"role": "user", "content": "before"}, {"role": "assistant", "content": "yes"}),
        fresh="It is Monday.",
        message="Now?",
        merged="It is Monday.\n\nNow?",
        blocks=(),
        tokens=10,
        budget=8000,
        answer=2000,
    )


def test_an_answer_with_what_it_cost(model, upstream):
    answer = model.complete(system="Be brief.", user="Hello?")
    assert answer.text == "Hello from upstream."
    assert (answer.input_tokens, answer.output_tokens) == (10, 5)
    assert KEY in json.dumps(upstream.headers)


def test_a_stream_comes_in_pieces(model, upstream):
    pieces = list(model.chat(context()))
    assert "".join(pieces).strip() == "Hello from upstream."
    assert len(pieces) == 3
    sent = json.dumps(upstream.asked[-1])
    for text in ("You are a coach.", "before", "yes", "It is Monday.", "Now?"):
        assert text in sent


def test_a_busy_server_is_asked_again(model, upstream):
    upstream.script(Step(status=429, headers={"retry-after": "0"}), Step())
    assert model.complete(system="s", user="u").text == "Hello from upstream."
    assert len(upstream.asked) == 2


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (Step(status=500), "model_failed"),
        (Step(status=401), "model_key_refused"),
        (Step(status=404), "model_unknown"),
        (Step(status=400), "model_refused_request"),
        (Step(raw=b"<html>busy</html>"), "model_failed"),
        (Step(raw=b'{"choices": ['), "model_failed"),
        (Step(raw=b"{}"), "model_failed"),
        (Step(raw=b"[]"), "model_failed"),
        (Step(text=""), "model_failed"),
        (Step(wait=1.0), "model_failed"),
    ],
)
def test_every_failure_is_one_error_without_the_key(served, upstream, step, code):
    if step.status != 200:
        step.body = {"error": f"no, {KEY}"}
    for kind in ("openai", "anthropic"):
        upstream.script(step)
        model = make(kind, served[1].url, retries=0, timeout=timedelta(seconds=0.5))
        with pytest.raises(ModelError) as caught:
            model.complete(system="s", user="u")
        assert caught.value.code == code
        assert KEY not in str(caught.value)


def test_nobody_there(upstream):
    for kind in ("openai", "anthropic"):
        with pytest.raises(ModelError, match="cannot be reached"):
            make(kind, "http://127.0.0.1:9", retries=0).complete(system="s", user="u")


@pytest.mark.parametrize("after", [0, 2, 3])
def test_a_stream_that_is_cut_is_an_error_after_its_words(model, upstream, after):
    upstream.script(Step(text="One two three four.", cut_after=after + 1))
    found = []
    with pytest.raises(ModelError):
        found.extend(model.chat(context()))
    assert "One two three four.".startswith("".join(found).strip())
    assert len(upstream.asked) == 1 or not found, "what was shown is not asked for again"


def test_a_slow_drip_does_not_outlive_the_deadline(served, upstream):
    upstream.script(Step(text="word " * 400))
    model = make("openai", served[1].url, timeout=timedelta(seconds=0.3), retries=0)
    with pytest.raises(ModelError, match=r"did not finish within 0\.3 seconds"):
        list(model.chat(context()))


def test_json_of_a_shape(served, upstream):
    upstream.script(Step(text='{"name": "Ana"}'))
    answer = make("openai", served[1].url).complete(system="s", user="u", schema=SCHEMA)
    assert json.loads(answer.text) == {"name": "Ana"}
    assert upstream.asked[-1]["response_format"]["json_schema"]["schema"] == SCHEMA
    upstream.script(Step(tool_calls=[{"type": "tool_use", "id": "t", "name": "answer", "input": {"name": "Ana"}}]))
    answer = make("anthropic", served[1].url).complete(system="s", user="u", schema=SCHEMA)
    assert json.loads(answer.text) == {"name": "Ana"}
    assert upstream.asked[-1]["tool_choice"] == {"type": "tool", "name": "answer"}


def test_a_server_without_schemas_is_asked_in_words_from_then_on(served, upstream):
    refused = Step(status=400, body={"error": "unknown field response_format"})
    upstream.script(refused, Step(text='{"name": "Ana"}'))
    model = make("openai", served[1].url)
    assert json.loads(model.complete(system="s", user="u", schema=SCHEMA).text) == {"name": "Ana"}
    assert '"required":["name"]' in upstream.asked[-1]["messages"][0]["content"]
    model.complete(system="s", user="u", schema=SCHEMA)
    assert len(upstream.asked) == 3


def test_json_that_was_cut_off_is_an_error(served, upstream):
    upstream.script(Step(text='{"name": "A', finish="length"))
    with pytest.raises(ModelError, match="cut off"):
        make("openai", served[1].url).complete(system="s", user="u", schema=SCHEMA)


def test_thinking_is_kept_apart(served, upstream):
    upstream.script(Step(text="<think>Hm, penicillin.</think>\n\nNo."))
    answer = make("openai", served[1].url).complete(system="s", user="u")
    assert (answer.text, answer.thinking) == ("No.", "Hm, penicillin.")


def test_the_key_of_someone_else(model, upstream):
    model.with_key("sk-of-ana").complete(system="s", user="u")
    assert "sk-of-ana" in json.dumps(upstream.headers[-1])
    assert KEY not in json.dumps(upstream.headers[-1])


@pytest.mark.parametrize(
    ("spec", "url", "name"),
    [
        ("openai:gpt-x", "https://api.openai.com/v1", "gpt-x"),
        ("anthropic:claude-x", "https://api.anthropic.com", "claude-x"),
        ("ollama:llama3.2:1b", "http://127.0.0.1:11434/v1", "llama3.2:1b"),
        ("openai+http://127.0.0.1:8080/v1:qwen:7b", "http://127.0.0.1:8080/v1", "qwen:7b"),
        ("openai+http://127.0.0.1:8080:m", "http://127.0.0.1:8080", "m"),
        ("anthropic+https://gate.example/a:claude", "https://gate.example/a", "claude"),
    ],
)
def test_models_by_name(spec, url, name):
    made = parse_model(spec, POLICY, lambda variable: f"key of {variable}")
    assert made.name == name
    assert made._wire._base == url


def test_a_vendors_key_never_goes_to_another_address():
    asked = []
    parse_model("openai+http://127.0.0.1:8080/v1:m", POLICY, lambda variable: asked.append(variable))
    assert asked == ["TENUTO_MODEL_KEY"]


@pytest.mark.parametrize("spec", ["", "gpt-4", "openai:", "openai+ftp://x/v1:m", "mistral:x", "openai+http://x/v1"])
def test_an_unknown_model_says_how_to_write_one(spec):
    with pytest.raises(SettingError, match="openai:<model>"):
        parse_model(spec, POLICY, lambda _: "key")


def test_a_missing_key_names_the_variable():
    with pytest.raises(SettingError, match="ANTHROPIC_API_KEY"):
        parse_model("anthropic:claude-x", POLICY, lambda _: None)


def test_a_function_is_a_model():
    model = as_model(lambda system, user: f"{system}|{user}", POLICY, lambda _: None)
    assert isinstance(model, CallableModel)
    assert model.complete(system="s", user="u").text == "s|u"
    assert "Now?" in next(iter(model.chat(context())))
    with pytest.raises(ModelError, match="ZeroDivisionError"):
        CallableModel(lambda s, u: 1 / 0).complete(system="s", user="u")
    with pytest.raises(ModelError, match="nothing"):
        CallableModel(lambda s, u: None).complete(system="s", user="u")
    with pytest.raises(SettingError):
        as_model(7, POLICY, lambda _: None)

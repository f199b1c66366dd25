"""The memory proxy with the official Anthropic client."""

from __future__ import annotations

import json

import anthropic
import pytest

from tests.surfaces.proxy.kit import kept, pin
from tests.upstream import Step


def tell(claude, user: str, *messages, **options):
    talk = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    options = {"model": "scripted", "max_tokens": 100, "metadata": {"user_id": user}} | options
    return claude.messages.create(messages=talk, **options)


def test_anthropic_memory_goes_in_with_a_cache_mark(store, upstream, claude, user):
    pin(store, user)
    answer = tell(claude, user, "Which antibiotics?", system="You are kind.")
    assert answer.content[0].text == "Hello from upstream."
    sent = upstream.asked[-1]
    assert sent["system"][0] == {"type": "text", "text": "You are kind."}
    assert "penicillin" in sent["system"][1]["text"]
    assert sent["system"][1]["cache_control"] == {"type": "ephemeral"}
    assert "sk-ant-client" in json.dumps(upstream.headers[-1])
    assert kept(store, user) == [("user", "Which antibiotics?"), ("assistant", "Hello from upstream.")]


def test_anthropic_never_gets_more_marks_than_it_takes(store, upstream, claude, user):
    pin(store, user)
    mark = {"cache_control": {"type": "ephemeral"}}
    system = [{"type": "text", "text": f"Part {n}"} | mark for n in range(3)]
    tools = [{"name": "look", "input_schema": {"type": "object"}} | mark]
    tell(claude, user, "Hello?", system=system, tools=tools)
    assert json.dumps(upstream.asked[-1]).count("cache_control") == 4
    assert "penicillin" in upstream.asked[-1]["system"][3]["text"]


def test_anthropic_streams(store, upstream, claude, user):
    with claude.messages.stream(
        model="scripted", max_tokens=50, metadata={"user_id": user}, messages=[{"role": "user", "content": "Hi"}]
    ) as stream:
        text = "".join(stream.text_stream)
    assert text.strip() == "Hello from upstream."
    assert kept(store, user) == [("user", "Hi"), ("assistant", "Hello from upstream.")]


def test_anthropic_tool_results_stay_first_in_their_message(store, upstream, claude, user):
    pin(store, user)
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {"x": 1}}
    upstream.script(Step(tool_calls=[use]), Step(text="A tree."))
    first = tell(claude, user, "Look!")
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "tree"}
    tell(claude, user, "Look!", {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]})
    assert first.stop_reason == "tool_use"
    assert upstream.asked[1]["messages"][-1]["content"] == [result]
    assert upstream.asked[0]["messages"][0] == upstream.asked[1]["messages"][0]
    both = {"role": "user", "content": [result, {"type": "text", "text": "And now?"}]}
    tell(claude, user, "Look!", {"role": "assistant", "content": [use]}, both)
    kinds = [part["type"] for part in upstream.asked[2]["messages"][-1]["content"]]
    assert kinds == ["tool_result", "text", "text"]
    assert kept(store, user) == [
        ("user", "Look!"),
        ("assistant", "A tree."),
        ("user", "And now?"),
        ("assistant", "A tree."),
    ]


def test_anthropic_errors_pass_through(store, upstream, claude, user):
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}
    upstream.script(Step(status=529, body=body))
    with pytest.raises(anthropic.APIStatusError) as caught:
        tell(claude, user, "Keep me.")
    assert caught.value.status_code == 529
    assert caught.value.body == body
    assert kept(store, user) == [("user", "Keep me.")]

"""The memory proxy with the official OpenAI client, over real connections, in front of a scripted upstream."""

from __future__ import annotations

import asyncio
import json
import time
from itertools import pairwise

import httpx
import openai
import pytest

from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.surfaces.proxy import Upstream as Where
from tenuto.surfaces.proxy import proxy_app
from tenuto.surfaces.proxy_access import Alone
from tests.surfaces.proxy.kit import kept, pin, say
from tests.upstream import Served, Step

TOOLS = [
    {
        "type": "function",
        "function": {"name": "look", "parameters": {"type": "object", "properties": {"x": {"type": "number"}}}},
    }
]
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"x": 1.50}'}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def test_memory_goes_in_and_both_turns_are_kept(store, upstream, client, user):
    pin(store, user)
    answer = say(client, user, {"role": "system", "content": "You are kind."}, "Which antibiotics are safe?")
    assert answer.choices[0].message.content == "Hello from upstream."
    assert answer.usage.total_tokens == 15
    sent = upstream.asked[-1]["messages"]
    assert [m["role"] for m in sent] == ["system", "user"]
    assert sent[0]["content"].startswith("You are kind.\n\n")
    assert "Allergic to penicillin" in sent[0]["content"]
    assert sent[1]["content"].endswith("The message to answer:\n\nWhich antibiotics are safe?")
    assert kept(store, user) == [("user", "Which antibiotics are safe?"), ("assistant", "Hello from upstream.")]
    assert upstream.headers[-1]["authorization"] == "Bearer sk-of-the-client"


def test_a_stream_passes_piece_by_piece_and_is_kept_before_it_ends(store, upstream, client, user):
    pieces = [c.choices[0].delta.content or "" for c in say(client, user, "Hello?", stream=True) if c.choices]
    assert "".join(pieces).strip() == "Hello from upstream."
    assert len(pieces) >= 4
    assert kept(store, user) == [("user", "Hello?"), ("assistant", "Hello from upstream.")]


def test_the_asynchronous_client(running, store, upstream, user):
    async def run():
        async with openai.AsyncOpenAI(base_url=f"{running[2].url}/v1", api_key="k", max_retries=0) as made:
            ask = made.chat.completions.create
            first = await asyncio.gather(
                *(
                    ask(model="scripted", user=f"{user}{n}", messages=[{"role": "user", "content": "Hi"}])
                    for n in range(8)
                )
            )
            stream = await ask(model="scripted", user=user, messages=[{"role": "user", "content": "Hi"}], stream=True)
            return first, [chunk async for chunk in stream]

    first, chunks = asyncio.run(run())
    assert {answer.choices[0].message.content for answer in first} == {"Hello from upstream."}
    assert chunks[-1].choices[0].finish_reason == "stop"
    for n in range(8):
        assert len(kept(store, f"{user}{n}")) == 2


def test_tools_and_parameters_pass_untouched_and_the_loop_is_one_turn(store, upstream, client, user):
    upstream.script(Step(tool_calls=[CALL]), Step(text="It is there."))
    options = {"tools": TOOLS, "temperature": 0.30, "seed": 12345678901234567890, "tool_choice": "auto"}
    first = say(client, user, "Look!", **options)
    call = first.choices[0].message.tool_calls[0]
    assert call.function.arguments == '{"x": 1.50}'
    told = {"role": "tool", "tool_call_id": "call_1", "content": "A tree."}
    asked = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    second = say(client, user, "Look!", asked, told, **options)
    assert second.choices[0].message.content == "It is there."
    for body in upstream.asked:
        assert body["tools"] == TOOLS
        assert body["seed"] == 12345678901234567890
    assert upstream.asked[1]["messages"][-1] == told
    assert upstream.asked[0]["messages"] == upstream.asked[1]["messages"][:-2], "the cache survives the loop"
    assert kept(store, user) == [("user", "Look!"), ("assistant", "It is there.")]


def test_streamed_tool_calls(store, upstream, client, user):
    upstream.script(Step(tool_calls=[CALL]))
    chunks = list(say(client, user, "Look!", tools=TOOLS, stream=True))
    assert chunks[-1].choices[0].finish_reason == "tool_calls"
    assert kept(store, user) == [("user", "Look!")]


def test_images_pass_untouched_and_are_named_in_memory(store, upstream, client, user):
    pin(store, user)
    content = [{"type": "text", "text": "What is this?"}, IMAGE]
    say(client, user, {"role": "user", "content": content})
    sent = upstream.asked[-1]["messages"][-1]["content"]
    assert sent[-2:] == content
    assert kept(store, user)[0] == ("user", "What is this?\n[image]")


def test_a_retry_is_the_same_turn(store, upstream, running, user):
    upstream.script(Step(status=503, headers={"retry-after-ms": "1"}), Step(status=500), Step())
    with openai.OpenAI(base_url=f"{running[2].url}/v1", api_key="k", max_retries=3) as client:
        say(client, user, "Only once, please.")
    assert len(upstream.asked) == 3
    assert upstream.asked[0] == upstream.asked[2]
    assert kept(store, user) == [("user", "Only once, please."), ("assistant", "Hello from upstream.")]


def test_a_retry_that_another_process_serves_is_the_same_turn(store, upstream, client, running, user):
    say(client, user, "Only once.")
    where = Where(openai=f"{upstream_url(upstream, running)}/v1")
    with Served(proxy_app(store, where, Alone(user="me", acts_for_users=True))) as other:
        upstream.script(Step(text="Another answer."))
        with openai.OpenAI(base_url=f"{other.url}/v1", api_key="k", max_retries=0) as second:
            say(second, user, "Only once.")
    assert kept(store, user) == [("user", "Only once."), ("assistant", "Hello from upstream.")]


def upstream_url(upstream, running) -> str:
    return next(h["host"] for h in upstream.headers if "host" in h).join(("http://", ""))


def test_the_same_words_later_are_a_new_turn(store, upstream, client, user):
    say(client, user, "Good morning")
    with store.deps.store.writing(user) as tx:
        for message in tx.find(Message):
            tx.put(evolve(message, at=message.at))
    again = {"role": "assistant", "content": "Hello from upstream."}
    say(client, user, "Good morning", again, "Good morning")
    assert [m[0] for m in kept(store, user)] == ["user", "assistant", "user", "assistant"]


def test_upstream_errors_pass_through_unchanged_and_the_message_is_kept(store, upstream, client, user):
    body = {"error": {"message": "Too many", "type": "rate", "code": "slow_down"}}
    upstream.script(Step(status=429, body=body, headers={"retry-after": "7", "x-request-id": "r-1"}))
    with pytest.raises(openai.RateLimitError) as caught:
        say(client, user, "Remember this anyway.")
    assert caught.value.body == body["error"]
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.request_id == "r-1"
    assert kept(store, user) == [("user", "Remember this anyway.")]


def test_an_upstream_that_is_down_is_a_502_and_the_message_is_kept(store, user):
    app = proxy_app(store, Where(openai="http://127.0.0.1:9/v1"), Alone(user=user))
    with Served(app) as proxy, openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="k", max_retries=0) as client:
        with pytest.raises(openai.InternalServerError) as caught:
            say(client, "somebody else", "Keep me.")
        assert caught.value.status_code == 502
        assert caught.value.code == "upstream_unreachable" and "127.0.0.1" not in str(caught.value)
        with pytest.raises(openai.InternalServerError):
            client.models.list()
    assert kept(store, user) == [("user", "Keep me.")]
    assert kept(store, "somebody else") == []


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_stream_that_is_cut_is_noticed_and_the_message_is_kept(store, upstream, client, user, after):
    upstream.script(Step(text="One two three four five.", cut_after=after))
    found = []
    with pytest.raises((openai.APIError, httpx.HTTPError)):
        found.extend(say(client, user, "Keep me.", stream=True))
    assert kept(store, user) == [("user", "Keep me.")]
    upstream.script(Step(text="Whole."))
    list(say(client, user, "Keep me.", stream=True))
    assert kept(store, user) == [("user", "Keep me."), ("assistant", "Whole.")]


def test_a_client_that_leaves_in_the_middle_is_kept_without_the_answer(store, upstream, client, user):
    upstream.script(Step(text="word " * 300))
    stream = say(client, user, "I have to go.", stream=True)
    next(iter(stream))
    stream.close()
    deadline = time.monotonic() + 60
    while not kept(store, user) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert kept(store, user) == [("user", "I have to go.")]


def test_injected_text_is_never_kept_again(store, upstream, client, user):
    pin(store, user)
    say(client, user, "What do you know?")
    notes = upstream.asked[-1]["messages"][0]["content"]
    upstream.script(Step(text=f"I was told: {notes}"))
    say(client, user, f"Someone wrote: {notes} Is it so?")
    texts = [text for _, text in kept(store, user)][2:]
    assert len(texts) == 2
    assert all("penicillin" not in text and "<<" not in text for text in texts)
    assert texts[0].startswith("Someone wrote:")


def test_persona_session_and_channel_by_header(store, upstream, client, user):
    headers = {"Tenuto-Persona": "coach", "Tenuto-Session": "chat-7", "Tenuto-Channel": "web"}
    say(client, user, "Hello coach", extra_headers=headers)
    session = store.user(user, persona="coach").sessions()[0]
    assert (session.persona, session.external_id, session.channel) == ("coach", "chat-7", "web")
    assert not any(name.startswith("tenuto-") for name in upstream.headers[-1])


def test_memory_can_be_switched_off_or_only_read(store, upstream, client, user):
    pin(store, user)
    say(client, user, "Nothing of this.", extra_headers={"Tenuto-Memory": "off"})
    assert upstream.asked[-1]["messages"] == [{"role": "user", "content": "Nothing of this."}]
    say(client, user, "Read only.", extra_headers={"Tenuto-Memory": "read"})
    assert "penicillin" in json.dumps(upstream.asked[-1])
    assert kept(store, user) == []


def test_a_new_chat_window_knows_what_was_said_in_the_other_one(store, upstream, client, user):
    say(client, user, "My sister Marta lives in Porto.")
    store.settle()
    say(client, user, "Where does my sister Marta live?")
    assert "Porto" in str(upstream.asked[-1]["messages"]), "the client does not send it, so memory does"
    answered = {"role": "assistant", "content": "Hello from upstream."}
    say(client, user, "My sister Marta lives in Porto.", answered, "And where does Marta work?")
    assert str(upstream.asked[-1]["messages"]).count("Porto") == 1, "what the client sends is not said twice"


def test_the_prefix_is_the_same_bytes_from_turn_to_turn(store, upstream, client, user):
    pin(store, user)
    talk: list[dict[str, str]] = [{"role": "system", "content": "You are kind."}]
    for n in range(6):
        talk.append({"role": "user", "content": f"Question {n}?"})
        say(client, user, *talk)
        talk.append({"role": "assistant", "content": "Hello from upstream."})
    sent = [body["messages"] for body in upstream.asked]
    for earlier, later in pairwise(sent):
        assert later[: len(earlier) - 1] == earlier[:-1]


def test_models_and_embeddings_pass_through(client, upstream):
    assert [model.id for model in client.models.list()] == ["scripted"]
    made = client.embeddings.create(model="m", input=["text"], encoding_format="float")
    assert made.data[0].embedding == [0.1, 0.2]
    assert upstream.asked[-1]["input"] == ["text"]

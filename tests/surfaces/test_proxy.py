"""The memory proxy with the official clients, over real connections, in front of a scripted upstream."""
# Over 400 lines: the same upstream and clients serve every case.

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime
from itertools import pairwise

import anthropic
import httpx
import openai
import pytest

import tenuto
from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.records.memory import Domain, Kind, Memory, Trust
from tenuto.surfaces.proxy import Upstream as Where
from tenuto.surfaces.proxy import proxy_app
from tenuto.surfaces.proxy_access import one_key, this_machine
from tests.upstream import Served, Step, Upstream

TOOLS = [
    {
        "type": "function",
        "function": {"name": "look", "parameters": {"type": "object", "properties": {"x": {"type": "number"}}}},
    }
]
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"x": 1.50}'}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    upstream = Upstream()
    path = tmp_path_factory.mktemp("proxy") / "store.db"
    with tenuto.open(path, background=False) as store, Served(upstream.app()) as server:
        where = Where(openai=f"{server.url}/v1", anthropic=server.url)
        with Served(proxy_app(store, where, this_machine(user="me", acts_for_users=True))) as proxy:
            yield store, upstream, proxy


@pytest.fixture
def upstream(running):
    running[1].script()
    running[1].asked.clear()
    running[1].headers.clear()
    return running[1]


@pytest.fixture
def store(running, upstream):
    return running[0]


@pytest.fixture
def user(request):
    return request.node.name


@pytest.fixture
def client(running, user):
    with openai.OpenAI(base_url=f"{running[2].url}/v1", api_key="sk-of-the-client", max_retries=0) as made:
        yield made


def pin(store, user: str, content: str = "Allergic to penicillin") -> None:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    record = Memory(
        id="mem_pin", content=content, domain=Domain.PROFILE, kind=Kind.FACT, created_at=at, updated_at=at, pinned=True,
        importance=10.0, trust=Trust.USER_STATED,
    )  # fmt: skip
    with store.deps.store.writing(user) as tx:
        tx.put(record)


def kept(store, user: str, **options) -> list[tuple[str, str]]:
    return [(m.role.value, m.content) for m in store.user(user, **options).messages()]


def say(client, user: str, *messages, **options):
    talk = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    return client.chat.completions.create(model="scripted", messages=talk, user=user, **options)


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
    with Served(proxy_app(store, where, this_machine(user="me", acts_for_users=True))) as other:
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
    app = proxy_app(store, Where(openai="http://127.0.0.1:9/v1"), this_machine(user=user, acts_for_users=False))
    with Served(app) as proxy, openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="k", max_retries=0) as client:
        with pytest.raises(openai.InternalServerError) as caught:
            say(client, "somebody else", "Keep me.")
        assert caught.value.status_code == 502
        assert caught.value.code == "upstream_unreachable"
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
    deadline = time.monotonic() + 5
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
    headers = {"X-Tenuto-Persona": "coach", "X-Tenuto-Session": "chat-7", "X-Tenuto-Channel": "web"}
    say(client, user, "Hello coach", extra_headers=headers)
    session = store.user(user, persona="coach").sessions()[0]
    assert (session.persona, session.external_id, session.channel) == ("coach", "chat-7", "web")
    assert not any(name.startswith("x-tenuto") for name in upstream.headers[-1])


def test_memory_can_be_switched_off_or_only_read(store, upstream, client, user):
    pin(store, user)
    say(client, user, "Nothing of this.", extra_headers={"X-Tenuto-Memory": "off"})
    assert upstream.asked[-1]["messages"] == [{"role": "user", "content": "Nothing of this."}]
    say(client, user, "Read only.", extra_headers={"X-Tenuto-Memory": "read"})
    assert "penicillin" in json.dumps(upstream.asked[-1])
    assert kept(store, user) == []


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


# --- Anthropic ------------------------------------------------------------------------------------------------------


@pytest.fixture
def claude(running, upstream):
    with anthropic.Anthropic(base_url=running[2].url, api_key="sk-ant-client", max_retries=0) as made:
        yield made


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


# --- who may ask, and what is refused -------------------------------------------------------------------------------


def ask(url: str, **options) -> httpx.Response:
    body = options.pop("json", {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "user": "other"})
    with httpx.Client() as client:
        return client.post(f"{url}/v1/chat/completions", json=body, **options)


def test_a_key_is_asked_for_and_the_user_comes_from_it(store, upstream, running, user):
    where = Where(openai=f"{running[2].url}/v1", key="sk-upstream")
    app = proxy_app(store, where, one_key("right", user=user, acts_for_users=False))
    with Served(app) as proxy:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic right"}, {"x-api-key": "righ"}):
            refused = ask(proxy.url, headers=headers)
            assert refused.status_code == 401
            assert refused.json()["error"]["code"] == "key_refused"
        assert not upstream.asked
        assert ask(proxy.url, headers={"authorization": "Bearer right"}).status_code == 200
    assert upstream.headers[-1]["authorization"] == "Bearer sk-upstream"
    assert kept(store, user)[0] == ("user", "Hi")


def test_without_a_key_only_this_machine_is_served(running):
    url = running[2].url
    for headers in (
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ):
        assert ask(url, headers=headers).status_code == 403
    assert ask(url, headers={"origin": "http://localhost:3000"}).status_code == 200


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"messages": "\\ud800"}'])
def test_a_body_that_is_no_request_is_a_clear_error(running, content):
    with httpx.Client() as client:
        refused = client.post(f"{running[2].url}/v1/chat/completions", content=content)
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "body_invalid"


@pytest.mark.parametrize(
    "messages",
    [None, [], "text", [{"role": "system", "content": "x"}], [{"role": "user"}], [{"role": "user", "content": None}],
     ["x"], [{"role": "user", "content": ["x", 7]}], [{"role": "user", "content": "\x00"}]],
)  # fmt: skip
def test_what_is_not_a_turn_goes_to_the_upstream_as_it_is(running, upstream, messages):
    body = {"model": "m", "messages": messages}
    assert ask(running[2].url, json=body).status_code == 200
    if messages != [{"role": "user", "content": "\x00"}]:
        assert upstream.asked[-1] == body


def test_a_request_that_is_too_large(running):
    assert ask(running[2].url, json={"messages": "x" * (33 * 1024 * 1024)}).status_code == 413


def test_a_huge_message_is_kept_up_to_the_limit(store, upstream, client, user):
    say(client, user, "long " * 40_000)
    assert len(kept(store, user)[0][1].encode()) == 64 * 1024
    assert upstream.asked[-1]["messages"][-1]["content"].endswith("long " * 40_000)


def test_a_memory_that_fails_costs_the_memory_and_not_the_answer(upstream, running, tmp_path):
    store = tenuto.open(tmp_path / "gone.db", background=False)
    with Served(
        proxy_app(store, Where(openai=f"{running[2].url}/v1"), this_machine(user="me", acts_for_users=False))
    ) as proxy:
        store.close()
        answer = ask(proxy.url)
    assert answer.status_code == 200
    assert answer.headers["x-tenuto-memory"] == "failed; store_closed"


def test_no_upstream_for_a_format(store, user):
    with Served(proxy_app(store, Where(), this_machine(user=user, acts_for_users=False))) as proxy:
        assert ask(proxy.url).json()["error"]["code"] == "no_upstream"


def test_a_key_for_many_users_must_name_one(store):
    app = proxy_app(store, Where(openai="http://127.0.0.1:9"), this_machine(user=None, acts_for_users=True))
    with Served(app) as proxy:
        refused = ask(proxy.url, json={"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "user_missing"

"""The whole way with a real model: schema, stream, memory in the answer, the proxy, the chat."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import openai
import pytest

import tenuto
from tenuto.providers.model_openai import OpenAIModel
from tenuto.surfaces.proxy import Upstream, proxy_app
from tenuto.surfaces.proxy_access import Alone
from tests.model.local_model import weights
from tests.upstream import Served

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "city": {"type": "string"}},
    "required": ["name", "city"],
    "additionalProperties": False,
}
QUESTION = "Which medicine am I allergic to? Answer in one short sentence."


@pytest.fixture(scope="module")
def model(local):
    return OpenAIModel("local", base_url=local.url, timeout=timedelta(seconds=300))


def test_json_of_a_shape(model):
    answer = model.complete(
        system="Extract who is spoken of and where they live.",
        user="My sister Ana moved to Lisbon last week.",
        schema=SCHEMA,
        max_tokens=100,
    )
    found = json.loads(answer.text)
    assert found == {"name": "Ana", "city": "Lisbon"}
    assert answer.input_tokens > 20
    assert answer.output_tokens > 5


def test_memory_reaches_the_answer(model, tmp_path):
    with tenuto.open(tmp_path / "m.db", model=model) as store:
        ana = store.user("ana", persona="assistant")
        ana.remember("The user is allergic to penicillin", pin=True)
        pieces = list(model.chat(ana.context(QUESTION), max_tokens=40))
    assert len(pieces) > 1
    assert "penicillin" in "".join(pieces).lower()


@pytest.mark.parametrize("stream", [False, True])
def test_the_proxy_with_the_official_client(local, tmp_path, stream):
    with tenuto.open(tmp_path / "p.db", background=False) as store:
        with Served(proxy_app(store, Upstream(openai=local.url), Alone(user="ana"))) as proxy:
            client = openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="none", timeout=300)

            def say(text: str) -> str:
                made = client.chat.completions.create(
                    model="local",
                    messages=[{"role": "user", "content": text}],
                    max_tokens=40,
                    stream=stream,
                    temperature=0,
                )
                if not stream:
                    return made.choices[0].message.content
                return "".join(chunk.choices[0].delta.content or "" for chunk in made if chunk.choices)

            say("Please remember: I am allergic to penicillin.")
            store.settle()
            assert "penicillin" in say(QUESTION).lower(), "each request is a conversation of its own but for the memory"
        assert [m.role.value for m in store.user("ana").messages()] == ["user", "assistant"] * 2


def test_the_chat(local, tmp_path):
    model = f"openai+{local.url}:local"
    command = [sys.executable, "-m", "tenuto", "--db", str(tmp_path / "c.db"), "chat", "--model", model]
    lines = f"/pin I am allergic to penicillin\n{QUESTION}\n/context\n/quit\n"
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    answer = done.stdout.partition("Pinned")[2].partition("\n")[2]
    assert "penicillin" in answer.lower()


def test_a_file_is_run_in_this_process(tmp_path):
    file = weights(Path(os.environ["TENUTO_TEST_MODEL"]))
    with tenuto.open(tmp_path / "l.db", model=f"local:{file}", background=False) as store:
        ana = store.user("ana")
        found = store.deps.model.complete(
            system="Extract who is spoken of and where they live.",
            user="My sister Ana moved to Lisbon last week.",
            schema=SCHEMA,
            max_tokens=100,
        )
        assert json.loads(found.text) == {"name": "Ana", "city": "Lisbon"}
        receipt = ana.observe("My sister Ana lives in Lisbon and works as a nurse.")
        store.settle()
        notes = ana.receipt(receipt.id).notes
    assert not any("failed" in note or "could not be used" in note for note in notes), notes

"""The embedders: the real weights, and a server made of a mock transport."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pytest

from tenuto.errors import EmbedderError, SettingError
from tenuto.providers import embed, embed_pack
from tenuto.providers.embed import LocalEmbedder
from tenuto.providers.embed_remote import LONGEST_WAIT_SECONDS, RemoteEmbedder

TEXTS = [
    "My dad is allergic to penicillin.",
    "Which antibiotics are safe for him?",
    "ok",
    "",
    "We went to the lake on Sunday, and the dog swam after every single duck until it was dark. " * 3,
    "父はペニシリンにアレルギーがあります。",
    "🎉🎉🎉",
]


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    return LocalEmbedder(remember=0)  # each is embedded anew


def test_rows_have_length_one(local: LocalEmbedder):
    rows = local.embed(TEXTS)
    assert rows.shape == (len(TEXTS), local.dimension) == (7, 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


def test_no_texts_no_rows(local: LocalEmbedder):
    assert local.embed([]).shape == (0, 384)


def test_meaning_orders_texts(local: LocalEmbedder):
    query, near, far = local.embed(
        ["What medicine can he not take?", "Dad is allergic to penicillin.", "The train to Basel leaves at nine."]
    )
    assert query @ near > 0.4 > query @ far


def test_a_text_has_one_vector_alone_among_others_and_from_many_threads(local: LocalEmbedder):
    alone = np.vstack([local.embed([text]) for text in TEXTS])
    np.testing.assert_array_equal(local.embed(TEXTS), alone)
    np.testing.assert_array_equal(local.embed(TEXTS[::-1] * 3), np.vstack([alone[::-1]] * 3))
    np.testing.assert_array_equal(LocalEmbedder(threads=1).embed(TEXTS), alone)
    np.testing.assert_array_equal(local.embed(TEXTS, query=True), alone)
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(local.embed, [TEXTS] * 8):
            np.testing.assert_array_equal(rows, alone)


def test_a_batch_would_change_the_vector(local: LocalEmbedder):
    """The control: were this to pass as equal, running one text at a time would have lost its reason."""
    session = local._loaded()
    ids = [embed_pack.tokenizer().encode(text).ids for text in ("The cat sat there.", "A dog barked loudly!")]
    assert len(ids[0]) == len(ids[1])
    batch = np.array(ids, dtype=np.int64)

    def pooled(rows: np.ndarray) -> np.ndarray:
        inputs = {"input_ids": rows, "attention_mask": np.ones_like(rows), "token_type_ids": np.zeros_like(rows)}
        return session.run(None, inputs)[0].mean(axis=1)

    together, alone = pooled(batch), np.vstack([pooled(batch[:1]), pooled(batch[1:])])
    assert not np.array_equal(together, alone)


def test_long_text_counts_up_to_the_limit(local: LocalEmbedder):
    head = "word " * 254
    one, two = local.embed([head, head + "penicillin " * 20_000])
    np.testing.assert_array_equal(one, two)


def test_lone_surrogates_are_taken(local: LocalEmbedder):
    assert np.isfinite(local.embed(["broken \ud800 text"])).all()


def test_nothing_is_loaded_before_the_first_text():
    code = (
        "import sys, tenuto.providers.embed as e, tenuto.providers.tokens; e.LocalEmbedder();"
        "sys.exit(any(name in sys.modules for name in ('onnxruntime', 'tokenizers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def answer(request: httpx.Request, dimension: int = 3) -> httpx.Response:
    texts = json.loads(request.content)["input"]
    rows = [{"index": i, "embedding": [len(text), 1.0, *[0.0] * (dimension - 2)]} for i, text in enumerate(texts)]
    return httpx.Response(200, json={"data": rows[::-1]})


class Server:
    """Answers from a list, then normally; remembers what it was asked."""

    def __init__(self, *first: httpx.Response | Exception):
        self.first = list(first)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if not self.first:
            return answer(request)
        reply = self.first.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def embedder(self, **options) -> RemoteEmbedder:
        options = {"dimension": 3, "key": "sk-secret", **options}
        return RemoteEmbedder(
            "https://models.example/v1/",
            "some-model",
            transport=httpx.MockTransport(self),
            sleep=self.waits.append,
            **options,
        )


def test_remote_sends_batches_and_keeps_the_order():
    server = Server()
    rows = server.embedder(batch=2).embed(["a", "bbb", ""])
    assert [json.loads(r.content)["input"] for r in server.requests] == [["a", "bbb"], [" "]]
    assert server.requests[0].url == "https://models.example/v1/embeddings"
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret"
    np.testing.assert_allclose(rows[:, 0] / rows[:, 1], [1, 3, 1], rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-6)


def test_remote_prefixes_and_dimension():
    server = Server()
    remote = server.embedder(query_prefix="query: ", text_prefix="passage: ", ask_dimension=True)
    remote.embed(["x"], query=True)
    remote.embed(["x"])
    bodies = [json.loads(r.content) for r in server.requests]
    assert [body["input"] for body in bodies] == [["query: x"], ["passage: x"]]
    assert bodies[0]["dimensions"] == 3


def test_remote_tries_again_when_that_may_help():
    server = Server(
        httpx.Response(429, headers={"retry-after": "7"}),
        httpx.Response(503),
        httpx.ConnectError("refused"),
    )
    assert server.embedder().embed(["a"]).shape == (1, 3)
    assert server.waits == [7.0, 1.0, 2.0]


def test_remote_never_waits_long():
    server = Server(httpx.Response(429, headers={"retry-after": "86400"}))
    server.embedder().embed(["a"])
    assert server.waits == [LONGEST_WAIT_SECONDS]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (httpx.Response(401, text="no such key: sk-secret"), "answered 401: no such key: …"),
        (httpx.Response(500, text="down"), "answered 500"),
        (httpx.ReadTimeout("slow"), "did not answer in time"),
        (httpx.ConnectError("refused"), "cannot be reached"),
        (httpx.Response(200, text="<html>"), "not JSON"),
        (httpx.Response(200, json=[]), "without vectors"),
        (httpx.Response(200, json={"data": [{"index": 0, "embedding": ["x", 1, 2]}]}), "without vectors"),
        (httpx.Response(200, json={"data": []}), "0 vectors for 1 texts"),
        (httpx.Response(200, json={"data": [{"index": 0, "embedding": [1, 2]}]}), "gives 2 dimensions, but 3 are set"),
        (httpx.Response(200, json={"data": [{"index": 0, "embedding": [0, 0, 0]}]}), "zero or not finite"),
        (httpx.Response(200, content=b'{"data":[{"index":0,"embedding":[NaN,1,1]}]}'), "zero or not finite"),
    ],
)
def test_remote_failures_are_one_clear_error(reply, says):
    server = Server(*[reply] * 2)
    with pytest.raises(EmbedderError) as caught:
        server.embedder(retries=1).embed(["a"])
    assert says in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_remote_refuses_a_wrong_setting():
    with pytest.raises(SettingError, match="http"):
        RemoteEmbedder("models.example/v1", "m", 3)
    with pytest.raises(SettingError, match="dimension"):
        RemoteEmbedder("https://models.example/v1", "m", 0)


def test_a_text_that_comes_again_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []
    plain = embed.MiniLM.vector

    def counted(pack: embed.MiniLM, session: Any, text: str) -> Any:
        runs.append(text)
        return plain(pack, session, text)

    monkeypatch.setattr(embed.MiniLM, "vector", counted)
    embedder = LocalEmbedder(remember=2)
    first = embedder.embed(["a cat"], query=True)
    assert (embedder.embed(["a cat", "a dog", "a cat"])[[0, 2]] == first).all() and sorted(runs) == ["a cat", "a dog"]
    first[:] = 0
    assert embedder.embed(["a cat"]).any(), "what was handed out is a copy"
    embedder.embed(["a bird"])
    embedder.embed(["a cat"])
    assert sorted(runs) == ["a bird", "a cat", "a cat", "a dog"], "only the last two are remembered"
    forgetful = LocalEmbedder(remember=0)
    assert (forgetful.embed(["a cat"]) == forgetful.embed(["a cat"])).all() and runs.count("a cat") == 4

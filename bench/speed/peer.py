"""One peer, run inside its own environment: ``python peer.py NAME given.json``. Prints one line of JSON."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

USER = "side"


def langgraph(given: dict):
    from langgraph.store.memory import InMemoryStore

    def embed(texts: list[str]) -> list[list[float]]:
        return [given["vectors"][text] for text in texts]

    store = InMemoryStore(
        index={"dims": len(next(iter(given["vectors"].values()))), "embed": embed, "fields": ["text"]}
    )

    def write(turn: dict) -> None:
        store.put((USER,), turn["id"], {"text": turn["text"]})

    def search(text: str) -> list[str]:
        return [item.key for item in store.search((USER,), query=text, limit=10)]

    return write, search


def chromadb(given: dict):
    import chromadb as chroma

    client = chroma.PersistentClient(
        path=str(Path(given["scratch"]) / "chroma"), settings=chroma.Settings(anonymized_telemetry=False)
    )
    kept = client.create_collection("side", metadata={"hnsw:space": "cosine"}, embedding_function=None)

    def write(turn: dict) -> None:
        vector = given["vectors"][turn["text"]]
        kept.add(ids=[turn["id"]], embeddings=[vector], documents=[turn["text"]], metadatas=[{"user": USER}])

    def search(text: str) -> list[str]:
        found = kept.query(query_embeddings=[given["vectors"][text]], n_results=10, where={"user": USER})
        return found["ids"][0]

    return write, search


def mem0(given: dict):
    os.environ |= {
        "MEM0_TELEMETRY": "False",
        "OPENAI_API_KEY": "none",
        "MEM0_DIR": str(Path(given["scratch"]) / "mem0"),
    }
    from mem0 import Memory

    vectors = given["vectors"]
    port = _serve(vectors)
    size = len(next(iter(vectors.values())))
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "path": str(Path(given["scratch"]) / "qdrant"),
                    "embedding_model_dims": size,
                    "on_disk": True,
                },
            },
            "embedder": {
                "provider": "openai",
                "config": {"model": "table", "openai_base_url": f"http://127.0.0.1:{port}/v1", "embedding_dims": size},
            },
            "llm": {
                "provider": "openai",
                "config": {"model": "none", "openai_base_url": f"http://127.0.0.1:{port}/v1"},
            },
        }
    )

    def write(turn: dict) -> None:
        memory.add(turn["text"], user_id=USER, infer=False, metadata={"turn": turn["id"]})

    def search(text: str) -> list[str]:
        try:
            found = memory.search(text, filters={"user_id": USER}, top_k=10)
        except TypeError:
            found = memory.search(text, user_id=USER, limit=10)
        return [item["metadata"]["turn"] for item in found["results"]]

    return write, search


def _serve(vectors: dict) -> int:
    """An embeddings endpoint on this machine that looks vectors up."""
    folded = {" ".join(text.split()): vector for text, vector in vectors.items()}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            asked = [asked] if isinstance(asked, str) else asked
            found = [
                {"object": "embedding", "index": n, "embedding": folded[" ".join(t.split())]}
                for n, t in enumerate(asked)
            ]
            body = json.dumps(
                {"object": "list", "data": found, "model": "table", "usage": {"prompt_tokens": 0, "total_tokens": 0}}
            )
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main() -> None:
    name, path = sys.argv[1:]
    given = json.loads(Path(path).read_text())
    write, search = {"langgraph": langgraph, "chromadb": chromadb, "mem0": mem0}[name](given)
    start = time.perf_counter()
    for turn in given["turns"]:
        write(turn)
    writes = len(given["turns"]) / (time.perf_counter() - start)
    search(given["questions"][0]["text"])
    times, busy, share = [], [], 0.0
    for question in given["questions"]:
        start, used = time.perf_counter(), time.process_time()
        found = search(question["text"])
        times.append(1000 * (time.perf_counter() - start))
        busy.append(1000 * (time.process_time() - used))
        share += len(set(found) & set(question["wanted"])) / len(question["wanted"])
    print(json.dumps({"writes": writes, "times": times, "busy": busy, "recall": 100 * share / len(given["questions"])}))


if __name__ == "__main__":
    main()

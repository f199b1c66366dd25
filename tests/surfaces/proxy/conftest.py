"""A scripted upstream and the memory proxy in front of it, both for real on loopback."""

from __future__ import annotations

import anthropic
import openai
import pytest

import tenuto
from tenuto.surfaces.proxy import Upstream as Where
from tenuto.surfaces.proxy import proxy_app
from tenuto.surfaces.proxy_access import Alone
from tests.upstream import Served, Upstream


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    upstream = Upstream()
    path = tmp_path_factory.mktemp("proxy") / "store.db"
    with tenuto.open(path, background=False) as store, Served(upstream.app()) as server:
        where = Where(openai=f"{server.url}/v1", anthropic=server.url)
        with Served(proxy_app(store, where, Alone(user="me", acts_for_users=True))) as proxy:
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


@pytest.fixture
def claude(running, upstream):
    with anthropic.Anthropic(base_url=running[2].url, api_key="sk-ant-client", max_retries=0) as made:
        yield made

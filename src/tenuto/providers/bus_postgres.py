"""The bus over PostgreSQL's own LISTEN and NOTIFY: one connection that sends, one that listens."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import psycopg

from tenuto.providers.bus import RemoteBus

NAME = "tenuto_events"


class PostgresBus(RemoteBus):
    def __init__(self, url: str, window: timedelta) -> None:
        super().__init__(window)
        self._url = url
        self._sender: psycopg.Connection[Any] | None = None

    def send(self, publications: dict[str, int]) -> None:
        if self._sender is None or self._sender.closed:
            self._sender = psycopg.connect(self._url, autocommit=True, connect_timeout=5)
        try:
            for user, seq in publications.items():
                payload = msgspec.json.encode({"user": user, "seq": seq}).decode()
                self._sender.execute("SELECT pg_notify(%s, %s)", (NAME, payload))
        except psycopg.Error:
            self._sender.close()
            raise

    def receive(self) -> None:
        with psycopg.connect(self._url, autocommit=True, connect_timeout=5) as connection:
            connection.execute(f"LISTEN {NAME}")
            self.ready()
            while not self.over:
                for notification in connection.notifies(timeout=0.5):
                    self.received(str(msgspec.json.decode(notification.payload)["user"]))

    def close(self) -> None:
        super().close()
        if self._sender is not None:
            self._sender.close()

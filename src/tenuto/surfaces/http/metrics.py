"""What the server counts, in Prometheus' text form: requests, how long they took, what is open. No names, no content.

Several worker processes share a folder, as ``prometheus_client`` does it: whichever is asked answers for all of them. A
worker that died keeps its counts and loses its gauges: counters never fall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

MEDIA = CONTENT_TYPE_PLAIN_0_0_4
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """The counts of one application. ``folder``: where the processes of one server keep theirs if there are several."""

    def __init__(self, folder: str | None = None) -> None:
        own = self._own = CollectorRegistry()
        self._folder = folder
        self._requests = Counter("tenuto_requests", "Requests answered.", ["method", "route", "status"], registry=own)
        self._seconds = Histogram(
            "tenuto_request_seconds",
            "Time to its end.",
            ["method", "route"],
            buckets=BOUNDS,
            registry=own,
        )
        self.requests_open = _gauge("requests_open", "Requests at work.", own)
        self.streams_open = _gauge("streams_open", "Live event streams.", own)

    def record(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request that has ended."""
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self, store: Mapping[str, float]) -> bytes:
        """Prometheus' text form; ``store`` holds gauges of the store, the same whichever process is asked."""
        scraped = CollectorRegistry()
        scraped.register(_Values(store))
        if self._folder is None:
            return generate_latest(self._own) + generate_latest(scraped)
        MultiProcessCollector(scraped, path=self._folder)  # type: ignore[no-untyped-call]
        return generate_latest(scraped)


class _Values(Collector):
    """Numbers that are known at the moment of the scrape."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def collect(self) -> Iterator[Metric]:
        for name, value in sorted(self._values.items()):
            yield GaugeMetricFamily(f"tenuto_{name}", f"{name.replace('_', ' ').capitalize()}.", value=value)


def _gauge(name: str, meaning: str, registry: CollectorRegistry) -> Gauge:
    return Gauge(f"tenuto_{name}", meaning, registry=registry, multiprocess_mode="livesum")

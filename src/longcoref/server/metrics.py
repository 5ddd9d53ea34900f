"""What Prometheus sees. Each server has a registry of its own."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class Metrics:
    """Counts and times of requests to resolve."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.requests = Counter(
            "longcoref_requests", "Requests to resolve, by the status they got", ["status"], registry=self.registry
        )
        self.stopped = Counter(
            "longcoref_stopped",
            "Requests that were let in and not read to the end: the client left, or time was up",
            ["reason"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "longcoref_request_seconds", "From letting in to the end", registry=self.registry, buckets=SECONDS
        )
        self.inside = Gauge("longcoref_inside", "Requests that are waiting or being read", registry=self.registry)
        self.reading = Gauge("longcoref_reading", "Texts that are being read", registry=self.registry)
        self.characters = Counter("longcoref_characters", "Characters read", registry=self.registry)
        for reason in ("client", "time"):
            self.stopped.labels(reason)

    def exposed(self) -> bytes:
        """All of it in Prometheus's text format."""
        return generate_latest(self.registry)

"""Metrics for Prometheus. Each application has its own registry."""

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
    """Counts and durations of requests to resolve."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.requests = Counter(
            "longcoref_requests", "Requests to resolve, by status", ["status"], registry=self.registry
        )
        self.stopped = Counter(
            "longcoref_stopped",
            "Requests that were admitted but not finished: client disconnected, time ran out, or slow to read",
            ["reason"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "longcoref_request_seconds",
            "From admission to the end of the response",
            registry=self.registry,
            buckets=SECONDS,
        )
        self.inside = Gauge("longcoref_inside", "Texts that are waiting or being resolved", registry=self.registry)
        self.reading = Gauge("longcoref_reading", "Texts that are being resolved", registry=self.registry)
        self.characters = Counter("longcoref_characters", "Characters read", registry=self.registry)
        for reason in ("client", "time", "slow"):
            self.stopped.labels(reason)

    def exposed(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self.registry)

"""A web server: a page to paste texts into, and an API. `longcoref serve` runs it.

    running.py        the socket, the logs and the process
    connections.py    how long the server waits for a client, and for how many
    access.py         host names and the token
    access_log.py     request ids and the access log
    gate.py           uploads, the queue, turns, and clients that disconnect
    app.py            the routes
    answers.py        resolving in worker threads; the answer as JSON or as lines
    schemas.py        requests and responses, for validation and OpenAPI
    documentation.py  the page about the API, made from its OpenAPI description
    metrics.py        metrics for Prometheus
    limits.py         all limits
    asgi.py           types shared by the ASGI applications above
    page/             what the server adds to the reader page

Texts are resolved in threads, not processes: nearly all the time is spent in onnxruntime and numpy, which release the
interpreter lock, so one model in memory serves all requests. A thread cannot be killed, but it stops at the next check.
"""

from longcoref.errors import optional_module

for _name in ("fastapi", "uvicorn", "prometheus_client"):
    optional_module(_name, extra="serve", needed_for="the server")

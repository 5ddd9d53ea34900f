"""A service on a machine's own address: a page to paste texts into, and an API. `longcoref serve` runs it.

    gate.py           who is let in: size, queue, turns, and clients that leave
    answers.py        reading a text piece by piece in worker threads; the answer as JSON or as lines
    schemas.py        what a request may say, and what an answer looks like, for OpenAPI
    metrics.py        what Prometheus sees
    app.py            the routes
    documentation.py  the API's page, made from its OpenAPI description
    running.py        the socket and the server process
    page/             what the server adds to the reader page

Texts are read in threads, not processes: nearly all the time is spent in onnxruntime and numpy, which let other threads
run, and so one model in memory serves all. A thread cannot be killed, but reading goes piece by piece and stops between
two of them.
"""

from longcoref.errors import optional_module

for _name in ("fastapi", "uvicorn", "prometheus_client"):
    optional_module(_name, extra="serve", needed_for="the server")

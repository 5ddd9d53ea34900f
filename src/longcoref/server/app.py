"""The routes of the server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from importlib.resources import files
from time import monotonic
from typing import Any

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

import longcoref
from longcoref.errors import UsageError, unknown_name
from longcoref.render.html import live_page
from longcoref.resolver import Resolver
from longcoref.server import schemas
from longcoref.server.access import Access, Guard
from longcoref.server.access_log import AccessLog
from longcoref.server.answers import Answer, LineAnswer, OutOfTimeError, WholeAnswer, parts_of
from longcoref.server.asgi import Application, Message, Receive, Scope, Send
from longcoref.server.documentation import api_page
from longcoref.server.gate import PLACE, Gate
from longcoref.server.limits import Limits
from longcoref.server.metrics import Metrics

RESOLVE, BATCH = "/v1/resolve", "/v1/batch"
_LINES = "application/x-ndjson"
_HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": schemas.Refusal, "description": "The body is not UTF-8 JSON"},
    401: {"model": schemas.Refusal, "description": "The server requires a token, and the request does not have it"},
    408: {"model": schemas.Refusal, "description": "The request did not arrive in time"},
    413: {"model": schemas.Refusal, "description": "The request is larger than this server accepts"},
    415: {"model": schemas.Refusal, "description": "The request is not application/json"},
    421: {"model": schemas.Refusal, "description": "The server does not answer to this host name"},
    422: {"model": schemas.Mistakes, "description": "A field is missing, unknown or wrong"},
    503: {
        "model": schemas.Refusal,
        "description": "The queue is full, or the text was not resolved in time",
        "headers": {"Retry-After": {"description": "Seconds", "schema": {"type": "integer"}}},
    },
}
_MOST_MISTAKES = 20
_LONGEST_MESSAGE = 300
_TEXT = {"schema": {"type": "string", "description": "The format that `to` names"}}
_STREAM = {"schema": {"type": "string", "description": "Lines of the schema longcoref-stream/1"}}


def build_app(resolver: Resolver, limits: Limits | None = None, access: Access | None = None) -> Application:
    """The application that resolves with this model and, where a request does not choose, this memory."""
    limits = limits or Limits()
    resolver.stream()  # a model that cannot read piece by piece, or not with this memory, is refused here
    metrics = Metrics()
    workers = CapacityLimiter(limits.at_once)
    start, policy = live_page(
        title="longcoref", more=_part("start.html"), style=_part("start.css"), script=_part("start.js")
    )
    app = FastAPI(
        title="longcoref",
        version=longcoref.__version__,
        description="Coreference resolution for English text of any length.",
        docs_url=None,  # the usual pages fetch their scripts from the network
        redoc_url=None,
    )
    app.exception_handler(RequestValidationError)(_mistakes)

    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse(start, headers={"content-security-policy": f"{policy}; frame-ancestors 'none'"})

    @app.get("/docs", include_in_schema=False)
    async def documentation() -> HTMLResponse:
        content, own_policy = api_page(app.openapi())
        return HTMLResponse(content, headers={"content-security-policy": f"{own_policy}; frame-ancestors 'none'"})

    late = f"the text was not resolved within {limits.max_seconds:g} seconds: send a shorter text, or use fewer cells"

    def parts_of_answer(
        wanted: schemas.Request, request: Request, *, lines: bool, seconds: float
    ) -> AsyncIterator[str]:
        answer = _answer(wanted, resolver, lines=lines)
        place = request.scope[PLACE]
        return parts_of(answer, wanted.text, place=place, workers=workers, seconds=seconds, metrics=metrics)

    async def joined(parts: AsyncIterator[str]) -> str:
        try:
            return "".join([part async for part in parts])
        except OutOfTimeError as error:
            raise HTTPException(503, late, {"Retry-After": "60"}) from error

    @app.post(
        RESOLVE,
        response_model=schemas.Result,
        responses={
            200: {"content": {_LINES: _STREAM, "text/plain": _TEXT}, "description": "The clusters of the text"},
            **_REFUSALS,
        },
    )
    async def resolve(wanted: schemas.Request, request: Request) -> Response:
        """Resolve coreference in a text.

        The response is one JSON object, or text if `to` names another format. With `stream`, or with
        `Accept: application/x-ndjson`, it consists of lines that are sent while the text is being read: each mention
        when it is decided, each cluster when it is closed, progress, and finally the same object as `result`.
        """
        lines = wanted.stream or _LINES in request.headers.get("accept", "")
        parts = parts_of_answer(wanted, request, lines=lines, seconds=limits.max_seconds)
        if lines:
            return StreamingResponse(_with_error(parts, late), media_type=_LINES)
        whole = await joined(parts)
        return Response(whole, media_type="application/json" if wanted.to == "json" else "text/plain")

    @app.post(BATCH, response_model=schemas.Results, responses={200: {"description": "The results"}, **_REFUSALS})
    async def batch(wanted: schemas.Batch, request: Request) -> Response:
        """Resolve coreference in several texts, one after another.

        All limits are those of one request: the texts share its size, its place in the queue and its time.
        """
        settings = wanted.model_dump(exclude={"texts"})
        deadline = monotonic() + limits.max_seconds
        results = []
        for item in wanted.texts:
            one = schemas.Request.model_construct(text=item.text, id=item.id, **settings)
            seconds = deadline - monotonic()
            results.append(await joined(parts_of_answer(one, request, lines=False, seconds=seconds)))
        if wanted.to != "json":
            results = [json.dumps(result, ensure_ascii=False) for result in results]
        return Response(f'{{"results": [{", ".join(results)}]}}', media_type="application/json")

    @app.get("/health", response_description="The server is running")
    async def health() -> schemas.Health:
        """Whether the server is running, and with which model."""
        return schemas.Health(version=longcoref.__version__, model=resolver.model.name)

    @app.get(
        "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}, "description": "Counts"}}
    )
    async def exposed_metrics() -> Response:
        """Counts and times for Prometheus."""
        return Response(metrics.exposed(), media_type=CONTENT_TYPE_LATEST)

    gate = Gate(app, paths=(RESOLVE, BATCH), limits=limits, metrics=metrics)
    return AccessLog(_Headers(Guard(gate, access or Access())))


def _answer(wanted: schemas.Request, resolver: Resolver, *, lines: bool) -> Answer:
    """The answer that the request asks for; a mistake in the request is raised as FastAPI's own are."""
    if wanted.trace and not lines:
        raise _mistake("trace", "decisions are part of streams only: ask for `stream`, or leave out `trace`")
    if wanted.to != "json" and lines:
        raise _mistake("to", "a stream is always JSON lines: leave out `to`, or `stream`")
    known = resolver.model.config.model.types
    for type in wanted.types or ():
        if type not in known:
            raise _mistake("types", unknown_name("type", type, known))
    try:
        styled = resolver.with_settings(style=wanted.style)
    except UsageError as error:
        raise _mistake("style", str(error)) from error
    try:
        own = styled.with_settings(
            memory=wanted.memory,
            cells=wanted.cells,
            recall=wanted.recall,
            post_processing=wanted.post_processing,
        )
    except UsageError as error:
        raise _mistake("cells", str(error)) from error
    try:
        if lines:
            return LineAnswer(
                own,
                id=wanted.id,
                types=wanted.types,
                min_mentions=wanted.min_mentions,
                text=wanted.text,
                trace=wanted.trace,
            )
        return WholeAnswer(own, id=wanted.id, types=wanted.types, min_mentions=wanted.min_mentions, format=wanted.to)
    except UsageError as error:
        raise _mistake("memory", str(error)) from error


async def _with_error(parts: AsyncIterator[str], late: str) -> AsyncIterator[str]:
    """The lines of an answer; if its time runs out, the last line says so."""
    try:
        async for part in parts:
            yield part
    except OutOfTimeError:
        yield json.dumps({"error": {"status": 503, "detail": late}}) + "\n"


def _mistake(field: str, message: str) -> RequestValidationError:
    return RequestValidationError([{"loc": ("body", field), "msg": message, "type": "value_error"}])


async def _mistakes(request: Request, error: Exception) -> Response:
    """Describes what is wrong with a request, without sending back what was sent.

    Names and messages are cut, since they may quote the request. The response is ASCII, since they may contain half a
    surrogate pair.
    """
    if not isinstance(error, RequestValidationError):
        raise error
    errors = error.errors()
    if errors[0]["type"] == "json_invalid":
        reason = errors[0].get("ctx", {}).get("error", "")
        detail: Any = f"the body is not JSON: {reason} at character {errors[0]['loc'][-1]}"
        return Response(json.dumps({"detail": detail}), 400, media_type="application/json")
    detail = [
        {"loc": [_cut(part) for part in mistake["loc"]], "msg": _cut(mistake["msg"]), "type": mistake["type"]}
        for mistake in errors[:_MOST_MISTAKES]
    ]
    return Response(json.dumps({"detail": detail}), 422, media_type="application/json")


def _cut(part: str | int) -> str | int:
    return part if isinstance(part, int) or len(part) <= _LONGEST_MESSAGE else f"{part[:_LONGEST_MESSAGE]}..."


def _part(name: str) -> str:
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


class _Headers:
    """Adds to every response what keeps browsers from doing more with it than intended, and answers HEAD like GET."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_head = scope.get("method") == "HEAD"

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name for name, _ in message["headers"]}
                own = ((name.encode(), value.encode()) for name, value in _HEADERS.items())
                message["headers"] = [*message["headers"], *(pair for pair in own if pair[0] not in there)]
            elif is_head:
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"} if is_head else scope, receive, with_headers)

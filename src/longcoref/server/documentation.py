"""The page about the API, made from its OpenAPI description, without scripts or anything from the network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from longcoref.render.html import content_policy, palette

_EXAMPLE = """curl -s http://127.0.0.1:8000/v1/resolve -H 'Content-Type: application/json' -d '{example}'"""


def api_page(description: Mapping[str, Any]) -> tuple[str, str]:
    """The page, and its content security policy."""
    style = _style()
    information = description["info"]
    parts = "\n".join(_operations(description))
    schemas = "\n".join(_schema(name, schema) for name, schema in description["components"]["schemas"].items())
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(information["title"])} API</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main>
<h1>{escape(information["title"])} <small>{escape(information["version"])}</small></h1>
<p>{escape(information["description"])} <a href="./">Try it</a>, or get this description as
<a href="openapi.json">OpenAPI</a>.</p>
{parts}
<h2>Objects</h2>
{schemas}
</main>
</body>
</html>
"""
    return page, content_policy(style=style)


@cache
def _style() -> str:
    return f"{palette()}\n{(files(__package__) / 'page' / 'docs.css').read_text(encoding='utf-8')}"


def _operations(description: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f'<section><h2><b class="{escape(method)}">{escape(method.upper())}</b> {escape(path)}</h2>'
            for paragraph in operation.get("description", operation.get("summary", "")).split("\n\n"):
                yield f"<p>{_code(paragraph)}</p>"
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            if body:
                yield f"<p>Takes {_type(body)}.</p>"
                example = _named(description, body).get("example")
                if example:
                    yield f"<pre>{escape(_EXAMPLE.format(example=json.dumps(example)))}</pre>"
            rows = (
                (f"<code>{escape(status)}</code>", escape(answer["description"]), ", ".join(_contents(answer)))
                for status, answer in operation["responses"].items()
            )
            yield f"{_table(('status', 'when', 'what'), rows)}</section>"


def _contents(answer: Mapping[str, Any]) -> Iterator[str]:
    for media_type, content in answer.get("content", {}).items():
        shown = _type(content["schema"]) if "$ref" in content.get("schema", {}) else ""
        yield f"{shown} <small>{escape(media_type)}</small>"


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = (
        (
            f"<code>{escape(field)}</code>",
            f"{_type(part)}{'' if field in required else ' <small>optional</small>'}",
            _code(part.get("description", "")),
        )
        for field, part in schema.get("properties", {}).items()
    )
    described = _code(schema.get("description", ""))
    return f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{described}</p>{_table(("field", "type", ""), rows)}'


def _table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    head = "".join(f"<th>{head}</th>" for head in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _type(schema: Mapping[str, Any]) -> str:
    """A type in words, with links to the objects on this page."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{escape(name)}">{escape(name)}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(choice) for choice in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " or ".join(f"<code>{escape(str(value))}</code>" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    bounds = [f"{words} {schema[key]}" for key, words in _BOUNDS.items() if key in schema]
    return escape(" ".join([schema.get("type", "anything"), *bounds]))


_BOUNDS = {"minimum": "from", "maximum": "to", "maxLength": "of at most"}


def _named(description: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _code(text: str) -> str:
    """Escaped text in which the parts in backquotes are code."""
    parts = escape(" ".join(text.split())).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))

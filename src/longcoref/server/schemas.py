"""Requests and responses: requests are validated, and both are described in OpenAPI."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MOST_CELLS = 1000
"""A memory allocates all its cells at the start, so their number must be bounded."""

MOST_TEXTS = 1000
"""Texts of one request."""
To = Literal["json", "resolved", "resolved-pronouns", "text", "cast", "csv", "tsv"]
"""The output formats that can be made of any result, and of nothing else."""


def _whole(text: str) -> str:
    """Refuses half a surrogate pair: JSON can express it, but it is not a character and cannot be sent back."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"half a surrogate pair at {error.start} is not a character") from error
    return text


_Text = Annotated[str, AfterValidator(_whole)]


class Settings(BaseModel):
    """How to resolve, and what to return."""

    model_config = ConfigDict(extra="forbid")

    memory: Annotated[
        Literal["learned", "rule", "unbounded", "track-all"] | None,
        Field(description="The kind of memory; by default the server's setting."),
    ] = None
    cells: Annotated[
        int | None,
        Field(ge=1, le=MOST_CELLS, description="Entities that a learned or rule memory holds at once."),
    ] = None
    recall: Annotated[
        bool | None,
        Field(
            description="Archive evicted entities, so that they can return to memory; by default the server's setting."
        ),
    ] = None
    post_processing: Annotated[
        Literal["all", "names", "speech", "none"] | None,
        Field(description="Which passes revise the clusters at the end of the text; by default the server's setting."),
    ] = None
    style: Annotated[
        _Text | None,
        Field(
            max_length=100, description="Kind of text, for a model trained on several; by default the server's setting."
        ),
    ] = None
    types: Annotated[
        list[str] | None, Field(max_length=100, description="Only clusters of these types, such as PER.")
    ] = None
    min_mentions: Annotated[int, Field(ge=1, description="Only clusters with at least this many mentions.")] = 1
    to: Annotated[
        To, Field(description="The format of a result, as in `longcoref resolve --to`; all but json are text.")
    ] = "json"


class Request(Settings):
    """A text, and how to resolve it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"text": "Mrs. Hallow kept the inn. Her husband had drowned, and she never spoke of him."}
        },
    )

    text: Annotated[_Text, Field(description="English text. Offsets in the response count its code points.")]
    id: Annotated[_Text, Field(max_length=200, description="Returned with the response.")] = ""
    stream: Annotated[bool, Field(description="Send lines while reading, as with `Accept: application/x-ndjson`.")] = (
        False
    )
    trace: Annotated[
        bool, Field(description="In a stream: also send every decision, including those on rejected mentions.")
    ] = False


class BatchText(BaseModel):
    """One of several texts."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[_Text, Field(description="English text.")]
    id: Annotated[_Text, Field(max_length=200, description="Returned with the result.")] = ""


class Batch(Settings):
    """Several texts, and how to resolve them."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"texts": [{"id": "1", "text": "Ann left. She was late."}], "to": "resolved"}},
    )

    texts: Annotated[list[BatchText], Field(max_length=MOST_TEXTS)]


class Memory(BaseModel):
    """The memory that was used."""

    policy: str
    capacity: int | None


class Mention(BaseModel):
    """A mention: `text[start:end]` of the text that was sent."""

    start: int
    end: int
    text: str
    kind: Annotated[str, Field(description="PROP, NOM or PRON.")]
    type: Annotated[str | None, Field(description="Given if it differs from that of the cluster.")] = None
    score: Annotated[float, Field(description="The probability that it belongs to this cluster.")]
    sentence: int


class Cluster(BaseModel):
    """An entity with all its mentions."""

    id: int
    name: str
    type: str | None
    mentions: list[Mention]


class Quote(BaseModel):
    """Quoted speech; speaker and addressee are ids of clusters."""

    start: int
    end: int
    speaker: int | None
    addressee: int | None
    score: Annotated[float, Field(description="The probability of the speaker.")]
    continues: Annotated[bool, Field(description="It continues the quotation before it.")] = False


class Result(BaseModel):
    """The clusters of a text, as `longcoref resolve` writes them."""

    schema_: Annotated[Literal["longcoref/1"], Field(alias="schema")]
    id: str | None = None
    model: str
    memory: Memory
    clusters: list[Cluster]
    quotes: Annotated[list[Quote], Field(description="In text order; left out if there are none.")] = []
    warning: Annotated[
        str | None, Field(description="Why the result is unreliable: the text does not look like English prose.")
    ] = None


class Results(BaseModel):
    """What was found in several texts."""

    results: Annotated[
        list[Result | str], Field(description="In the order of the texts; strings if another format was asked for.")
    ]


class Health(BaseModel):
    """The state of the server."""

    status: Literal["ok"] = "ok"
    version: str
    model: str


class Refusal(BaseModel):
    """Why a request was refused."""

    detail: str


class Mistake(BaseModel):
    """What is wrong with a field of a request."""

    loc: list[str | int]
    msg: str
    type: str


class Mistakes(BaseModel):
    """What is wrong with a request."""

    detail: list[Mistake]

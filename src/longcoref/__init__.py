"""longcoref: who is who in English text of any length."""

from typing import TYPE_CHECKING, Any

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document, document_of_words
from longcoref.errors import LongcorefError
from longcoref.spans import CharSpan, WordSpan

if TYPE_CHECKING:
    from longcoref.mention import MentionRecord
    from longcoref.reading import Reading
    from longcoref.resolver import Resolver, load
    from longcoref.result import Result, ResultCluster

__version__ = "0.1.0"

__all__ = [
    "CharSpan",
    "Cluster",
    "Document",
    "LongcorefError",
    "Mention",
    "MentionRecord",
    "Reading",
    "Resolver",
    "Result",
    "ResultCluster",
    "WordSpan",
    "document_of_words",
    "load",
]


def __getattr__(name: str) -> Any:
    """What runs a model is imported when it is first asked for, so that `import longcoref` stays light."""
    if name in ("Reading", "Resolver", "load"):
        from longcoref import resolver

        return getattr(resolver, name)
    if name in ("Result", "ResultCluster"):
        from longcoref import result

        return getattr(result, name)
    if name == "MentionRecord":
        from longcoref.mention import MentionRecord

        return MentionRecord
    raise AttributeError(f"module 'longcoref' has no attribute {name!r}")

"""longcoref: coreference resolution for English text of any length."""

import importlib
from typing import TYPE_CHECKING, Any

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document, document_of_words
from longcoref.errors import LongcorefError
from longcoref.spans import CharSpan, WordSpan

if TYPE_CHECKING:
    from longcoref.mention import MentionRecord
    from longcoref.outcome import ResultCluster
    from longcoref.reading import Reading
    from longcoref.resolver import Resolver, load
    from longcoref.result import Result
    from longcoref.text.quotations import Quotation

__version__ = "0.1.0"

__all__ = [
    "CharSpan",
    "Cluster",
    "Document",
    "LongcorefError",
    "Mention",
    "MentionRecord",
    "Quotation",
    "Reading",
    "Resolver",
    "Result",
    "ResultCluster",
    "WordSpan",
    "document_of_words",
    "load",
]

# Imported on first use, so that `import longcoref` stays light.
_LAZY = {
    "MentionRecord": "longcoref.mention",
    "Quotation": "longcoref.text.quotations",
    "Reading": "longcoref.reading",
    "Resolver": "longcoref.resolver",
    "Result": "longcoref.result",
    "ResultCluster": "longcoref.outcome",
    "load": "longcoref.resolver",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'longcoref' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""longcoref: who is who in English text of any length."""

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document, document_of_words
from longcoref.errors import LongcorefError
from longcoref.spans import CharSpan, WordSpan

__version__ = "0.1.0"

__all__ = ["CharSpan", "Cluster", "Document", "LongcorefError", "Mention", "WordSpan", "document_of_words"]

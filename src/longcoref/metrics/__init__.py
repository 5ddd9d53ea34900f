"""Coreference metrics: clusterings in, precision, recall and F1 out.

A clustering is a sequence of collections of hashable spans. `alignment` lays a key and a response side by side, each
metric counts on it, and `conll` puts the metrics together.
"""

from longcoref.metrics.alignment import Clustering
from longcoref.metrics.conll import DocumentCounts, Scores, count_document, score_documents
from longcoref.metrics.score import Counts, Score

__all__ = ["Clustering", "Counts", "DocumentCounts", "Score", "Scores", "count_document", "score_documents"]

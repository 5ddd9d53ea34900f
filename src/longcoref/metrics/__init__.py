"""Coreference metrics: clusterings in, precision, recall and F1 out.

A clustering is a sequence of collections of hashable spans. `alignment` compares a key with a response once, each
metric takes its counts from it, and `conll` combines the metrics.
"""

from longcoref.metrics.alignment import Clustering
from longcoref.metrics.conll import DocumentCounts, Scores, count_document, score_documents
from longcoref.metrics.score import Counts, Score

__all__ = ["Clustering", "Counts", "DocumentCounts", "Score", "Scores", "count_document", "score_documents"]

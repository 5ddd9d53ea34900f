"""Statistics and figures of corpora and results, from documents and records, without a model."""

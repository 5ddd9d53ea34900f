"""The types of modern text: what WordNet says of nouns, and the classifier that learns from it."""

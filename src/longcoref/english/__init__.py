"""What the rules know about English: word lists, and the conventions of personal names."""

"""The numbers of post-processing that were chosen by hand, each in one place. All other weights are learned."""

from __future__ import annotations

# Names and people.
CLEAR = 3  # something is clear if it is shown this many times as often as the contrary, and at least this often
MOVED = 0.8  # probability that a mention moved to the person of a name is right: 49 of 61 on LitBank dev, fold 0

# Pronouns.
ABSENT = 3.0  # subtracted from the logarithm of the odds of somebody who was not named or described lately

# The narrator.
NARRATOR_SHARE = 0.1  # a narrator is this share of all "I", "he" and "she" outside quotations

# Words.
TAG = 3  # from a quotation or a mention to the speech verb that belongs to it: "said poor old Ann"
SAME_EXCHANGE = 14  # between two quotations that directly answer each other
NAME_REACH = 30  # between a name and the "he" or "she" that follows it in the same entity
NEAR = 60  # between a quotation and the people who may speak it
SAME_CONVERSATION = 120  # between two quotations of one conversation; nobody is absent who was named within them

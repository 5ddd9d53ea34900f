"""The numbers of post-processing that were chosen by hand, each in one place. All other weights are learned."""

from __future__ import annotations

# Shares and counts.
CLEAR = 3  # something is clear if it is shown this many times as often as the contrary, and at least this often
ABSENT = 0.05  # how likely a "he" or "she" is somebody who was not named or described lately, compared with others
NARRATOR_SHARE = 0.1  # a narrator is at least this share of all "I", "he" and "she" outside quotations
MOVED = 0.8  # probability of an entity that a name or a rule decides: 49 of 61 on LitBank dev, fold 0, for names
HISTORIES = 8  # of the ways in which a conversation may have gone up to a quotation, those that are followed

# Words.
TAG = 3  # up to which a speech verb belongs to a quotation and a mention: "said poor old Ann"
SAME_EXCHANGE = 14  # between two quotations that directly answer each other
NAME_REACH = 30  # between a name and the "he" or "she" that follows it in the same entity
SAME_CONVERSATION = 120  # between quotations of one conversation, or to who may speak; who was named since is present

# Scripts and chats.
TURNS = 4  # before and after a turn that show how many people talk
ONE_OF_SEVERAL = 0.5  # how likely a turn is meant for the speaker before it if more than two people talk

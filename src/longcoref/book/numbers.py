"""The numbers of post-processing that were chosen by hand, each in one place. All other weights are learned."""

from __future__ import annotations

# Names and people.
CLEAR_COUNT = 3  # a gender is clear if at least this many words show it,
CLEAR_SHARE = 0.75  # and this share of all that show one
TITLE_VOTES = 3  # pronouns that one title, or one gendered noun, counts as
CONTRADICTING = 0.25  # a name may contradict this share of a person's mentions by name and still be theirs
DOMINANT = 3  # a name that fits several people belongs to one who is named this many times as often as the next
NAME_REACH = 30  # words within which "he" or "she" follows a name in the same entity
RECENT_NAMES = 8  # names per entity that a pronoun may follow
NAME_SCORE = 0.8  # probability that a name moved to its person is right: 31 of 38 on LitBank dev, fold 0
NEAR_NAME_SCORE = 0.75  # the same for mentions moved with the names of their entity: 18 of 23

# Pronouns. An entity that was not named or described for `PRESENT` words counts as absent.
PRESENT = 400
PRONOUN_WEIGHTS = {"link": 1.0, "absent": -3.0, "log_mentions": 0.5}
ADDRESSED = 0.5  # how likely "he" or "she" in a quotation is its addressee, compared with anybody else
HEAP = 100  # an entity with at least this many mentions,
HEAP_NAMES = 0.05  # at most this share of names
HEAP_NOUNS = 0.2  # and at most this share of nouns collects pronouns of many people

# The narrator.
NARRATOR_COUNT = 5  # a narrator says "I" at least this often outside quotations,
NARRATOR_SHARE = 0.1  # and in this share of all "I", "he" and "she" there
NARRATOR_NAMED = 0.1  # names and "he" per "I" up to which an entity can be the narrator
NARRATOR_VOCATIVES = 3  # times that somebody the narration never names is addressed by name, to be its narrator
NARRATOR_SCORE = 0.9  # the same for an "I" moved to the narrator: a guess, dev has only two

# Speakers and addressees.
WORDS_BEFORE, WORDS_AFTER = 60, 30  # where the candidates of a quotation are looked for
SAME_EXCHANGE = 14  # words between two quotations that directly answer each other
SAME_CONVERSATION = 120  # words between two quotations of one conversation
DISTANCES_BEFORE, DISTANCES_AFTER = (3, 10, 25, WORDS_BEFORE), (3, 10, WORDS_AFTER)  # words, one cue for each step
TAG_BEFORE, VERB_BEFORE = 12, 4  # words of a tag before a quotation, and those of them that may be its speech verb
VERB_BETWEEN = 2  # words between a quotation and a mention after it that may be a speech verb: "said old Ann"
TAG_AFTER, VERB_AFTER = 1, 3  # words before a mention after a quotation, and after it for a verb: "Ann then said"
LAST_TURNS = 240  # words back to the turn before the last
TURNS_BACK = 5  # quotations in which the turn before the last is looked for
SPEAKER_SALIENCE = 0.15  # weight of the logarithm of a candidate's mentions

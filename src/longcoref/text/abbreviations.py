"""Words that keep their point, and words that tell whether such a point also ends the sentence.

Capitalised entries also match in capitals (MR.), small ones only in small letters ("the ill." is no state).
"""

from __future__ import annotations


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


# A name follows: the point never ends a sentence.
TITLES = _words(
    "Adm Brig Capt Cdr Cmdr Col Cpl Dr Fr Gen Gov Hon Lieut Lt Maj Messrs Mlle Mme Mr Mrs Ms Mt Mx Pres Prof Rep Rev "
    "Sen Sgt Supt dr mr mrs ms prof"
)

# The point may end the sentence as well: it does if a word follows that opens sentences.
ABBREVIATIONS = _words(
    "Apr Aug Dec Feb Jan Jul Jun Nov Oct Sep Sept "
    "Assn Ave Bart Blvd Bros Co Corp Dept Dist Esq Ft Inc Jr Ltd Pty Rd Sr St Univ "
    "Ala Ariz Calif Colo Conn Del Fla Ind Kan Ky La Md Mich Minn Mont Neb Nev Okla Tenn Va Vt Wis Wyo "
    "approx ca cf dept est etc ft govt inc jr lb lbs ltd mss oz sr viz vs"
)

# Abbreviations only before a number: "No. 5", but "No. Never."
BEFORE_NUMBERS = _words(
    "Art Ch Chap Eq Fig Figs No Nos Par Pp Sec Vol Vols art ch chap eq fig figs no nos par pp sec vol vols"
)

# Words that open sentences far more often than they follow an abbreviation as part of a name.
OPENERS = _words(
    "A After All Also Although An And Another Any Are As At Because Before Both But By Can Could Did Do Does During "
    "Each Even Every Few For From Had Has Have He Her Here His How However If In Indeed Instead Is It Its Just Later "
    "Many Meanwhile More Moreover Most My Nevertheless No Nobody None Nor Not Nothing Now Of On Once One Only Or Other "
    "Our Perhaps Several She Since So Some Soon Such That The Their Then There Therefore These They This Those Though "
    "Through Thus To Today Under Until Upon Was We Were What When Where Whether Which While Who Why With Without Would "
    "Yes Yet You Your"
)

"""Stop words: English words of grammar and of asking, which say nothing about a question's subject.

The list is longer than the 33 words that search engines provide, because questions are full of "what",
"which", "does" and "between". Single letters (T cell, vitamin D) and words with content (disease, gene) are
not stop words.
"""

_WORDS = """
a an the this that these those there here
i me my we us our ours you your yours he him his she her hers it its they them their theirs
myself ourselves yourself yourselves himself herself itself themselves
who whom whose which what when where why how
am is are was were be been being do does did doing done has have had having
can could shall should will would may might must
and or but nor if because as until while although though whether than then so too very just only also
at by for from in into of off on onto out over to under up upon with within without via per
about above across after against along among around before behind below beneath beside between beyond
down during through throughout toward towards
again once further each every both either neither any all some such few more most other others another
many much several same own not no
"""

STOP_WORDS = tuple(_WORDS.split())

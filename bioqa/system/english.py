"""English words of grammar."""

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has have
    having he her here hers him his how i if in into is it its itself may me might more most must my no nor
    not of off on once only or other our ours out over own same she should so some such than that the their
    theirs them then there these they this those through to too under until up upon us very was we were what
    when where whether which while who whom whose why will with within without would you your yours
    """.split()  # noqa: SIM905
)
"""English function words, question words included."""

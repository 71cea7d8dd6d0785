"""Labels of sections in the text of an abstract, such as "METHODS:" or "Results and discussion:"."""

import re

from bioqa.bioasq.domain import Document, Sentence

_WORDS = (
    "abstract|aims?|analysis|approach|areas|background|cases?|clinical|conclusions?|context|covered|data|design"
    "|discussion|evidence|experimental|expert|extraction|features|findings|funding|goals?|hypothesis|implications"
    "|importance|interpretation|interventions?|introduction|limitations|main|materials?|measures?|measurements?"
    "|methodology|methods?|objectives?|opinion|outcomes?|participants|patients|population|presentation|principal"
    "|purpose|questions?|rationale|registration|relevance|report|results?|review|scope|selection|settings?"
    "|significance|sources?|statement|strategy|study|subjects|summary|synthesis|trial"
)

_PHRASE = rf"(?i:{_WORDS})(?:(?: |, ?| ?/ ?| and | & | of )(?i:{_WORDS})){{0,5}}"

LABEL = rf"(?:[A-Z]{{3}}[A-Z /,&()-]*|(?=[A-Z]){_PHRASE}):"
"""Regular expression: capitals, or a capitalised phrase of words that name sections; then a colon."""

_WHOLE = re.compile(LABEL)


def is_label(document: Document, sentence: Sentence) -> bool:
    """Whether the sentence consists of a section label only. Such a sentence answers no question."""
    text = document.sentence_text(sentence)
    if sentence.section == "title" or not text.endswith(":") or text == ":":
        return False
    named = any(part.label == text[:-1] and part.begin == sentence.begin for part in document.parts)
    return named or _WHOLE.fullmatch(text) is not None

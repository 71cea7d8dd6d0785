"""Regular entries of golden files and submissions, to be changed in one point; ``...`` leaves a key out."""

DOCUMENT = "http://www.ncbi.nlm.nih.gov/pubmed/90000001"


def snippet(**changes: object) -> dict[str, object]:
    regular = {
        "document": DOCUMENT,
        "text": "Iron is stored.",
        "beginSection": "abstract",
        "endSection": "abstract",
        "offsetInBeginSection": 10,
        "offsetInEndSection": 25,
    }
    return {key: value for key, value in (regular | changes).items() if value is not ...}


def entry(*snippets: object, **changes: object) -> dict[str, object]:
    regular = {
        "id": "q1",
        "type": "factoid",
        "body": "Where is iron stored?",
        "documents": [DOCUMENT],
        "snippets": list(snippets),
    }
    return {key: value for key, value in (regular | changes).items() if value is not ...}

"""GET /help: every example works."""

from fastapi.testclient import TestClient

from bioqa.app.web.help import NOTATION, QUESTIONS
from bioqa.indexer.search.notation.interpretation import interpret
from tests.app.web.html import read, texts

EXAMPLES = [example for example, _ in NOTATION]


def test_every_example_can_be_asked(client: TestClient) -> None:
    page = read(client.get("/help"))
    assert texts(page, "//dl//a") == [example for example, _ in (*QUESTIONS, *NOTATION)]
    for address in page.xpath("//dl//a/@href"):
        assert client.get(address).status_code == 200


def test_examples_are_what_they_are_said_to_be() -> None:
    read_as = [found and (found.words, str(found.restriction)) for found in map(interpret, EXAMPLES)]
    assert read_as == [
        ("metformin glucose", "review[pt] AND published from 2015-01-01 until before 2021-01-01"),
        ("statins", '"smith j"[au] AND lancet[ta]'),
        ("inhaled steroids", "asthma[mh] AND NOT child[mh]"),
        ("metformin", "cardi*[ti]"),
        ("enalapril ramipril", '"heart failure"[ti] AND (enalapril[tiab] OR ramipril[tiab])'),
    ]
    plain = [interpret(example) for example, _ in QUESTIONS]
    assert plain[:2] == [None, None]
    assert plain[2] is not None
    assert plain[2].identifiers

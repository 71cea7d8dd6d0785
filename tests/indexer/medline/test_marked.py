"""Text with the positions of its markup, whatever the white space around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from bioqa.indexer.medline.marked import TAGS, TitleMark, marked_text_of
from bioqa.indexer.medline.xmlfile import text_of


def marked(xml: str) -> tuple[str, list[tuple[str, str]]]:
    text, marks = marked_text_of(etree.fromstring(f"<t>{xml}</t>"))
    return text, [(mark.tag, text[mark.begin : mark.end]) for mark in marks]


@pytest.mark.parametrize(
    ("xml", "text", "marks"),
    [
        ("plain", "plain", []),
        ("r<sup>2</sup> of CO<sub>2</sub>", "r2 of CO2", [("sup", "2"), ("sub", "2")]),
        ("<i>E. coli</i>", "E. coli", [("i", "E. coli")]),
        ("<b>a <i>b<sub>c</sub></i></b> d", "a bc d", [("b", "a bc"), ("i", "bc"), ("sub", "c")]),
        ("  a\n  <i> b\n c </i>\t <b>d</b>\n", "a b c d", [("i", "b c"), ("b", "d")]),
        ("a<i/>b<sup> </sup>c", "ab c", []),
        ("<u>u</u><sup><u>2</u></sup>", "u2", [("sup", "2")]),
        ("\n\n<i>x</i>", "x", [("i", "x")]),
        ("\u00a0<i>\u00a0x</i>", "\u00a0\u00a0x", [("i", "\u00a0x")]),
        ("𝛼<sup>𝛽</sup>", "𝛼𝛽", [("sup", "𝛽")]),
    ],
)
def test_marks_fit_the_collapsed_text(xml: str, text: str, marks: list[tuple[str, str]]) -> None:
    assert marked(xml) == (text, marks)


def test_nothing_has_no_text() -> None:
    assert marked_text_of(None) == ("", ())


def test_a_mark_is_moved_into_its_section() -> None:
    moved = TitleMark(2, 5, "i").within("abstract", 10)
    assert (moved.section, moved.begin, moved.end, moved.tag) == ("abstract", 12, 15, "i")


NODES = st.recursive(
    st.text("ab \n\t\u00a0𝛼", max_size=6),
    lambda inner: st.tuples(st.sampled_from([*TAGS, "u"]), st.lists(inner, max_size=3)),
    max_leaves=10,
)


@given(st.lists(NODES, max_size=5))
def test_any_mixture_keeps_text_and_marks(nodes: list[object]) -> None:
    """The characters that are marked are those that the XML marks, but for white space."""

    def xml(node: object) -> str:
        if isinstance(node, tuple):
            return f"<{node[0]}>{''.join(map(xml, node[1]))}</{node[0]}>"
        return str(node)

    element = etree.fromstring(f"<t>{''.join(map(xml, nodes))}</t>")
    text, marks = marked_text_of(element)
    assert text == text_of(element)
    expected = [
        (each.tag, "".join(text_of(each).split(" ")))
        for each in element.iter(*TAGS)
        if "".join(map(str, each.itertext())).strip(" \n\t")
    ]
    assert [(m.tag, text[m.begin : m.end].replace(" ", "")) for m in marks] == expected
    assert all(text[m.begin] != " " != text[m.end - 1] for m in marks)

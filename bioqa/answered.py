"""An answer in Python: remarks, rows for a data frame, BioASQ's JSON, and HTML for notebooks."""

from collections.abc import Iterator
from typing import Any

from bioqa.app.answers import answer as answers
from bioqa.app.answers.answer import AnswerDocument as AnswerDocument
from bioqa.app.answers.answer import AnswerSnippet as AnswerSnippet
from bioqa.app.answers.remarks import Remark, remarks
from bioqa.bioasq.files import submission_dict


class Answer(answers.Answer):
    """The documents and snippets for a question, best first. In a notebook it shows itself."""

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What is to be known of the answer, in words: each has a ``kind`` and a ``text``.

        >>> index = bioqa.open_index("sample-index")
        >>> [remark.kind for remark in bioqa.ask("How do I change the oil of a motorbike?", index).remarks]
        ['confidence', 'further', 'found']
        """
        return remarks(self)

    def as_bioasq(self) -> dict[str, Any]:
        """The answer as JSON's objects with BioASQ's keys: an entry of a submission's ``questions``.

        >>> index = bioqa.open_index("sample-index")
        >>> answer = bioqa.ask("Which genes influence the dose of warfarin?", index)
        >>> sorted(answer.as_bioasq())
        ['body', 'documents', 'id', 'snippets']
        >>> answer.as_bioasq()["documents"][0]
        'http://www.ncbi.nlm.nih.gov/pubmed/90000032'
        """
        questions: Any = submission_dict([self.response()])["questions"]
        return dict(questions[0])

    def documents_rows(self) -> list[dict[str, Any]]:
        """A dict for each document, for ``pandas.DataFrame(rows)`` and the like.

        >>> index = bioqa.open_index("sample-index")
        >>> answer = bioqa.ask("Which genes influence the dose of warfarin?", index)
        >>> list(answer.documents_rows()[0])
        ['question', 'rank', 'pmid', 'standing', 'title', 'published', 'score', 'url']
        """
        names = ("rank", "pmid", "standing", "title", "published", "score", "url")
        return [dict(self._row(document, names)) for document in self.documents]

    def snippets_rows(self) -> list[dict[str, Any]]:
        """A dict for each snippet.

        >>> index = bioqa.open_index("sample-index")
        >>> answer = bioqa.ask("Which genes influence the dose of warfarin?", index)
        >>> list(answer.snippets_rows()[0])
        ['question', 'rank', 'pmid', 'standing', 'section', 'role', 'begin', 'end', 'text', 'score']
        """
        names = ("rank", "pmid", "standing", "section", "role", "begin", "end", "text", "score")
        return [dict(self._row(snippet, names)) for snippet in self.snippets]

    def _row(self, item: object, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        yield "question", self.question.id
        yield from ((name, getattr(item, name)) for name in names)

    def _repr_html_(self) -> str:
        from bioqa.notebook import answer_html

        return answer_html(self)

    def __repr__(self) -> str:
        question = self.question.body
        return f"<Answer to {question!r}: {len(self.documents)} documents, {len(self.snippets)} snippets>"

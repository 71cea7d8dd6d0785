"""Fit and measure the estimate of whether an answer answers at all (bioqa.models.answers.evidence).

    python -m bench.confidence --index INDEX --train GOLDEN... --dev GOLDEN... --test GOLDEN... [--fit]
        [--judged FILE...] [--judged-test FILE...] [--rankers NAME...] [--every N] [--cases FILE]
    python -m bench.confidence --read FILE... [--fit]

Questions are answered by each ranker, as asked, without their function words, and (every other one) with
their gold documents taken out of the candidates; so are questions in other languages, on other subjects
(bench/questions: other sentences and subjects for training than for the test) and random strings.
``--judged``: ordinary questions, in lay words and chat, with judged sentences, as in bench/data; they are
fitted to, those of ``--judged-test`` are measured.
``--fit`` fits the coefficients to the first ranker's answers of --train, sets the thresholds by those of
--train and --dev, and writes models/answers/confidence.json. --test is only measured. ``--cases`` keeps
what was gathered, which ``--read`` reads. ``--every N`` takes each N-th question, to try it out.
"""

import argparse
import json
import random
import string
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bioqa.bioasq.domain import PUBMED_URL, Candidate, Response
from bioqa.bioasq.files import read_golden
from bioqa.indexer.opening import open_index
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.questions.rewriting import rewritten
from bioqa.models.answers.evidence import DOCUMENTS, FITTED, AnswerEvidence, Estimator, evidence, is_known
from bioqa.models.answers.lexical import CALIBRATION, rank_lexically
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Booleans, Floats
from bioqa.models.bundled import DEFAULT
from bioqa.models.cascade import files as cascade_files
from bioqa.models.reranker import Reranker
from bioqa.models.text.background import background
from bioqa.models.text.words import STOP_WORDS
from bioqa.system.identification import foreign_language
from bioqa.system.jsonfile import write_json

QUESTIONS = Path(__file__).with_name("questions")
CANDIDATES = 100
ANSWERABLE = ("asked", "keywords", "ordinary")
PARTS = ("train", "dev", "test")
NOT_FOUND = "without gold found"
"""As asked, but no gold document is among the best ten."""
ORDINARY_NOT_FOUND = "ordinary without an answer found"
OFF = ("foreign", "subjects", "strings")
BM25 = "bm25"
"""In place of a ranker's name: the answers of a service whose ranker fails."""

SHARES = {
    "asked": 0.3,
    "keywords": 0.1,
    "ordinary": 0.1,
    "without gold": 0.25,
    "foreign": 0.1,
    "subjects": 0.12,
    "strings": 0.03,
}
"""Weight of each kind in the fit, so half of it is answerable: what the probability takes for granted."""

FALSE_ALARMS = 0.009
"""Share of the questions as asked of --train and --dev that may be called unlikely: less than the 2 % that
are allowed of those not seen."""

LIKELY_FROM = 0.5
"""Estimates above it come true more often than not."""
L2 = 1e-3


@dataclass(frozen=True, slots=True)
class Case:
    """A question as one ranker answered it."""

    part: str
    kind: str
    ranker: str
    question: str
    evidence: AnswerEvidence | None
    """None where no document has a word of the question."""
    ms: float
    """Processor time of the estimate."""


@dataclass(frozen=True, slots=True)
class Asked:
    kind: str
    question: str
    gold: frozenset[str] = frozenset()
    """URLs of documents that answer it."""


def foreign_questions(part: str) -> Iterator[str]:
    """Questions in the languages that have this part (train or test)."""
    for language in json.loads((QUESTIONS / "foreign.json").read_text(encoding="utf-8"))["languages"]:
        if wording := language.get(part):
            yield from (t.format(topic) for t in wording["templates"] for topic in wording["topics"])
            yield from wording.get("others", [])


def other_subjects(part: str) -> Iterator[str]:
    subjects = json.loads((QUESTIONS / "subjects.json").read_text(encoding="utf-8"))[part]
    for questions in subjects.values():
        yield from questions


def random_strings(part: str, count: int = 60) -> Iterator[str]:
    chance = random.Random(part)
    for _ in range(count):
        lengths = [chance.randint(2, 10) for _ in range(chance.randint(1, 6))]
        yield " ".join("".join(chance.choices(string.ascii_lowercase, k=length)) for length in lengths)


def keywords(question: str) -> str:
    """The question without function words, as people type who are used to search engines."""
    return " ".join(word for word in question.rstrip("?. ").split() if word.lower() not in STOP_WORDS)


def asked(part: str, responses: Sequence[Response]) -> Iterator[Asked]:
    for number, response in enumerate(responses):
        question, gold = response.question.body.strip(), frozenset(response.documents)
        yield Asked("asked", question, gold)
        if number % 2:
            yield Asked("without gold", question, gold)
        elif number % 8 == 0:
            yield Asked("keywords", keywords(question), gold)
    if part != "dev":
        yield from (Asked("foreign", question) for question in foreign_questions(part))
        yield from (Asked("subjects", question) for question in other_subjects(part))
        yield from (Asked("strings", question) for question in random_strings(part))


def ordinary(path: Path) -> Iterator[Asked]:
    for question in json.loads(path.read_text(encoding="utf-8")):
        answering = {judgment["pmid"] for judgment in question["judged"] if judgment["grade"] == 2}
        yield Asked("ordinary", question["body"], frozenset(PUBMED_URL + pmid for pmid in answering))


class Ranker:
    """A ranker by name or folder, or BM25."""

    def __init__(self, name: str) -> None:
        self.name = Path(name).name
        self._loaded = None
        if name != BM25:
            folder = cascade_files.folder_of(name)
            self._loaded = cascade_files.load(folder) if folder else Reranker.load(name)

    @property
    def calibration(self) -> Calibration:
        return CALIBRATION if self._loaded is None else self._loaded.calibration

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        rank = rank_lexically if self._loaded is None else self._loaded.rank
        return rank(question, candidates)


def gather(
    part: str, questions: Iterable[Asked], index: SearchIndex, rankers: Sequence[Ranker]
) -> Iterator[Case]:
    """Answer the questions as the service does. Those as asked count if a gold document is among the best."""
    for each in questions:
        reading = index.read(each.question)
        found = index.search(reading.wording, CANDIDATES + len(each.gold))
        if each.kind == "without gold":
            found = [candidate for candidate in found if candidate.document.url not in each.gold]
        found = found[:CANDIDATES]
        originals = {candidate.document.url: candidate.document for candidate in found}
        made = rewritten(reading, [*originals.values()])
        as_ranked = [
            replace(candidate, document=document)
            for candidate, document in zip(found, made.documents, strict=True)
        ]
        for ranker in rankers:
            ranking = ranker.rank(made.question, as_ranked)
            of_originals = (replace(r, document=originals[r.document.url]) for r in ranking.documents)
            ranking = replace(ranking, documents=tuple(of_originals))
            best = {ranked.document.url for ranked in ranking.documents[:DOCUMENTS]}
            kind = each.kind
            if kind in ANSWERABLE and not best & each.gold:
                kind = ORDINARY_NOT_FOUND if kind == "ordinary" else NOT_FOUND
            if not ranking.documents:
                yield Case(part, kind, ranker.name, each.question, None, 0.0)
                continue
            begun = time.thread_time()
            language = foreign_language(each.question, is_known)
            of_answer = evidence(made.question, ranking, ranker.calibration, language)
            ms = 1000 * (time.thread_time() - begun)
            yield Case(part, kind, ranker.name, each.question, of_answer, ms)


def read_questions(files: Mapping[str, Sequence[Path]]) -> Iterator[tuple[str, Asked]]:
    """The questions of each part's golden files, and of files of judged ones."""
    for part in PARTS:
        if paths := files[part]:
            responses = [response for path in paths for response in read_golden(path).responses]
            yield from ((part, question) for question in asked(part, responses))
    for part, paths in (("train", files["judged"]), ("test", files["judged_test"])):
        yield from ((part, question) for path in paths for question in ordinary(path))


def gather_all(
    index: str, questions: Iterable[tuple[str, Asked]], rankers: Sequence[str], every: int
) -> list[Case]:
    loaded = [Ranker(name) for name in rankers]
    background()  # so that its loading is not timed
    opened = open_index(index)
    try:
        return [
            case
            for part, question in islice(questions, None, None, every)
            for case in gather(part, [question], opened, loaded)
        ]
    finally:
        opened.close()


def fit(cases: Sequence[Case]) -> Estimator:
    """Logistic regression, weighted by SHARES, over standardised evidence; thresholds not yet set."""
    known = [case for case in cases if case.kind in SHARES and case.evidence]
    values = np.array([case.evidence.vector() for case in known if case.evidence])
    mean, deviation = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-6)
    standard = (values - mean) / deviation
    answerable = np.array([case.kind in ANSWERABLE for case in known], dtype=np.float64)
    kinds = [case.kind for case in known]
    weights = np.array([SHARES[kind] / kinds.count(kind) for kind in kinds])
    weights /= weights.sum()

    def loss(parameters: Floats) -> tuple[float, Floats]:
        odds = parameters[0] + standard @ parameters[1:]
        error = weights * (1 / (1 + np.exp(-odds)) - answerable)
        value = (weights * (np.logaddexp(0, odds) - answerable * odds)).sum()
        gradient = np.concatenate([[error.sum()], standard.T @ error + 2 * L2 * parameters[1:]])
        return float(value + L2 * (parameters[1:] ** 2).sum()), gradient

    found = minimize(loss, np.zeros(values.shape[1] + 1), jac=True).x
    slopes = found[1:] / deviation
    names = [field.name for field in fields(AnswerEvidence)]
    return Estimator(
        offset=round(float(found[0] - slopes @ mean), 4),
        weights={name: round(float(slope), 4) for name, slope in zip(names, slopes, strict=True)},
        unlikely_below=0.0,
        likely_from=LIKELY_FROM,
    )


def probabilities(cases: Sequence[Case], estimator: Estimator) -> Floats:
    odds = np.array([estimator.log_odds(c.evidence) if c.evidence else -np.inf for c in cases])
    return np.asarray(0.5 * (1 + np.tanh(0.5 * odds)))


def area(positive: Floats, negative: Floats) -> float:
    """Under the ROC curve."""
    difference = positive[:, None] - negative
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())


def report(cases: Sequence[Case], estimator: Estimator) -> None:
    """Print what one ranker's cases of one part show."""
    found = probabilities(cases, estimator)
    kinds = np.array([case.kind for case in cases])
    questions: Booleans = np.isin(kinds, ["asked", NOT_FOUND]) & ~np.array(
        [case.kind == NOT_FOUND and case.question == keywords(case.question) for case in cases]
    )
    levels = np.array([estimator.level(round(float(each), 3)) for each in found])
    print(f"  estimate: median {median(case.ms for case in cases):.2f} ms")
    for kind in dict.fromkeys(kinds):
        of_kind = kinds == kind
        shares = ", ".join(
            f"{level} {(levels[of_kind] == level).mean():.3f}" for level in ("likely", "doubtful", "unlikely")
        )
        line = f"  {kind:20} {of_kind.sum():5}  {shares}"
        if kind not in ANSWERABLE and questions.any():
            line += f"  AUC against all questions as asked {area(found[questions], found[of_kind]):.4f}"
        print(line)
    off = np.isin(kinds, OFF)
    if questions.any():
        print(f"  all questions as asked: {(levels[questions] == 'unlikely').mean():.4f} unlikely")
    if off.any() and questions.any():
        auc = area(found[questions], found[off])
        print(
            f"  foreign, subjects, strings: {(levels[off] == 'unlikely').mean():.4f} unlikely, AUC {auc:.4f}"
        )
    known = np.isin(kinds, list(SHARES))
    weights = np.array([SHARES.get(kind, 0) / (kinds == kind).sum() for kind in kinds])
    good = np.isin(kinds, ANSWERABLE)
    for low, high in ((0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
        here = known & (found >= low) & (found < high)
        if here.any():
            said, true = (np.average(each[here], weights=weights[here]) for each in (found, good))
            bin_of = f"  probability {low:.1f} to {min(high, 1):.1f}"
            print(f"{bin_of}: {here.sum():5} questions, said {said:.2f}, true {true:.2f}")


def lines(cases: Iterable[Case]) -> Iterator[str]:
    return (json.dumps(asdict(case), ensure_ascii=False) for case in cases)


def read_cases(path: Path) -> list[Case]:
    made = []
    for line in path.read_text(encoding="utf-8").splitlines():
        case = Case(**json.loads(line))
        # It was read as a dict.
        kept: Any = case.evidence
        made.append(replace(case, evidence=AnswerEvidence(**kept)) if kept else case)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index")
    for part in PARTS:
        parser.add_argument(f"--{part}", type=Path, nargs="*", default=[])
    for judged in ("--judged", "--judged-test"):
        parser.add_argument(judged, type=Path, nargs="*", default=[])
    parser.add_argument("--rankers", nargs="+", default=[DEFAULT])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--read", type=Path, nargs="*", default=[])
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    cases = [case for path in options.read for case in read_cases(path)]
    files = {name: getattr(options, name) for name in (*PARTS, "judged", "judged_test")}
    if any(files.values()):
        cases += gather_all(options.index, read_questions(files), options.rankers, options.every)
    if options.cases:
        options.cases.write_text("\n".join(lines(cases)) + "\n", encoding="utf-8")
    names = [*dict.fromkeys(case.ranker for case in cases)]
    if options.fit:
        first = [case for case in cases if case.ranker == names[0] and case.part != "test"]
        estimator = fit([case for case in first if case.part == "train"])
        answered = probabilities([case for case in first if case.kind in ("asked", NOT_FOUND)], estimator)
        least = min(LIKELY_FROM, float(np.quantile(answered, FALSE_ALARMS)))
        estimator = replace(estimator, unlikely_below=round(least, 3))
        write_json(FITTED, {"fitted_to": names[0], "model": asdict(estimator)})
    estimator = Estimator(**json.loads(FITTED.read_text(encoding="utf-8"))["model"])
    print(estimator)
    for name in names:
        for part in PARTS:
            if of_part := [case for case in cases if (case.ranker, case.part) == (name, part)]:
                print(f"{name}, {part}")
                report(of_part, estimator)


if __name__ == "__main__":
    main()

"""Answers and gold in either of two forms: BioASQ's JSON, or TREC's runs and judgements."""

from collections.abc import Sequence
from pathlib import Path

from bioqa.bioasq.golden import Golden, parse_golden
from bioqa.bioasq.trec import decode, judged_responses, parse_judgements, parse_run, run_responses
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import parse_json, read_bytes

FEWEST_FIELDS = 4
"""Fields that each line of TREC's formats has."""


def read_answers(path: str | Path) -> Golden:
    """Read a submission, or a TREC run: each question's ten best documents, without snippets.

    Raises BioqaError as ``read_submission`` and ``read_run`` do.
    """
    return parse_answers(read_bytes(path), str(path))


def read_gold(path: str | Path) -> Golden:
    """Read a golden file, or TREC judgements: the documents of relevance 1 or more, without snippets.

    Raises BioqaError as ``read_golden`` and ``read_judgements`` do.
    """
    return parse_gold(read_bytes(path), str(path))


def system_names(paths: Sequence[str | Path]) -> list[str]:
    """The files' names up to their first dot; where two are the same, the paths as they are given.

    Raises BioqaError for a path that is given twice.
    """
    if len({*map(str, paths)}) < len(paths):
        raise BioqaError("a system is given twice")
    names = [Path(path).name.partition(".")[0] or Path(path).name for path in paths]
    return names if len({*names}) == len(names) else [str(path) for path in paths]


def parse_answers(content: bytes, name: str) -> Golden:
    """``read_answers`` of a file's content; ``name`` stands for it in error messages."""
    if is_trec(content):
        return Golden(tuple(run_responses(parse_run(decode(content, name), name))), {})
    return parse_golden(parse_json(content, name), name)


def parse_gold(content: bytes, name: str) -> Golden:
    """``read_gold`` of a file's content."""
    if is_trec(content):
        return Golden(tuple(judged_responses(parse_judgements(decode(content, name), name))), {})
    return parse_golden(parse_json(content, name), name)


def is_trec(content: bytes) -> bool:
    """Whether the first line has fields and no bracket before them; all else is left to JSON's reader."""
    first = content.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    return not first.startswith((b"{", b"[")) and len(first.split()) >= FEWEST_FIELDS

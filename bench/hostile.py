"""Hostile requests beside ordinary ones: what the service says, holds in memory, and loses.

    python -m bench.hostile --index DIR --questions GOLDEN [--seconds 300] [--attackers 3] [--clients 4]
    python -m bench.hostile --index DIR --questions GOLDEN --alone

Attackers send, over and over, requests that each are permitted by their size and built to cost all they can.
Ordinary clients ask questions meanwhile, and a watcher asks /healthz five times a second. Printed are the
statuses of every kind of attack, 5xx, the largest memory of the service with all its processes (proportional
set size) and what it holds a minute later, the latency of /healthz, that of questions before and during the
attacks, and the ordinary questions that got no answer. With --alone each attack is
made once, and what it takes is printed: processor time and memory of the service.

Settings in the environment (BIOQA_…) reach the service. Needs bench/requirements.txt.
"""

import argparse
import gzip
import http.client
import json
import multiprocessing
import random
import socket
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlencode

import psutil

from bench.load import Watch, figures, megabytes, processes
from bench.serving import WARM_UP_S, Load, Served, ask, serve
from bioqa.bioasq.files import read_golden

WATCH_EVERY_S = 0.2
TRIES = 3
"""Attempts at an ordinary question before it counts as lost. It waits as long as a refusal says."""

QUIET_S, AFTER_S = 30.0, 60.0

BODY, UPLOAD = 1_990_000, 9_900_000
"""Just below the default limits of a request and of an upload."""

JSON = {"Content-Type": "application/json"}
NO_ANSWER = 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--attackers", type=int, default=3)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--only", choices=sorted(ATTACKS), action="append", default=[])
    options = parser.parse_args()
    bodies = [response.question.body for response in read_golden(options.questions).responses]
    with serve({"BIOQA_INDEX": options.index, "BIOQA_LOG_LEVEL": "error"}) as service:
        Load(service, bodies, 1).run(WARM_UP_S)
        if options.alone:
            for name in options.only or ATTACKS:
                print_alone(service, name)
            return
        seen = Seen()
        # Before memory is read: every process has a cache of citations, which fills up to its bound.
        seen.alone = quiet(service, bodies, options.clients)
        rest = megabytes(service)
        ends = time.monotonic() + options.seconds
        attacks = {name: ATTACKS[name] for name in options.only or ATTACKS}
        _bomb()
        threads = [
            *(
                threading.Thread(target=attack, args=(service, attacks, n, ends, seen))
                for n in range(options.attackers)
            ),
            *(
                threading.Thread(target=question, args=(service, bodies, n, ends, seen))
                for n in range(options.clients)
            ),
        ]
        spawning = multiprocessing.get_context("spawn")
        results, sending = spawning.Pipe(duplex=False)
        watching = spawning.Process(target=watch, args=(service, options.seconds, sending))
        watching.start()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        watched: Watched = results.recv()
        seen.health, seen.unhealthy, seen.memory = watched
        watching.join()
        time.sleep(AFTER_S)
        seen.after = megabytes(service)
        alive = ask(http.client.HTTPConnection("127.0.0.1", service.port, timeout=60), "/healthz") == 200
    print_report(seen, rest, alive)


@dataclass(slots=True)
class Seen:
    """What came of everything. Counters are only added to, each under the interpreter's lock."""

    statuses: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    """Counts of the attacks' statuses, by kind; 0: the connection was closed without an answer."""
    slowest: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Seconds that the slowest of each kind took."""
    answered: list[float] = field(default_factory=list)
    """Milliseconds of ordinary questions."""
    alone: list[float] = field(default_factory=list)
    """The same before the attacks."""
    after: float = 0.0
    """Megabytes, a minute after the attacks."""
    refused: int = 0
    lost: int = 0
    health: list[float] = field(default_factory=list)
    """Milliseconds."""
    unhealthy: int = 0
    memory: list[float] = field(default_factory=list)


def print_report(seen: Seen, rest: float, alive: bool) -> None:
    print(f"{'attack':32} {'slowest':>8}   statuses")
    for name, statuses in sorted(seen.statuses.items()):
        shown = ", ".join(f"{status or 'closed'}: {number}" for status, number in sorted(statuses.items()))
        print(f"{name:32} {seen.slowest[name]:7.2f}s   {shown}")
    faults = sum(
        n
        for counts in seen.statuses.values()
        for status, n in counts.items()
        if status >= 500 and status != 503
    )
    print(f"5xx but 503                      {faults}")
    print(
        f"memory (PSS, all processes)      at rest {rest:.0f} MB, at most {max(seen.memory):.0f} MB, "
        f"{AFTER_S:.0f} s after {seen.after:.0f} MB"
    )
    print(f"questions before                 {figures(seen.alone)}")
    print(f"/healthz                         {figures(seen.health)}; without an answer {seen.unhealthy}")
    print(
        f"ordinary questions               {figures(seen.answered)}; refused and asked again {seen.refused}"
    )
    print(f"ordinary questions lost          {seen.lost}")
    print(f"alive at the end                 {'yes' if alive else 'NO'}")


def print_alone(service: Served, name: str) -> None:
    """Requests of one kind, one after the other: the dearest by processor time, the largest by memory."""
    time.sleep(1.0)
    rest, begun = megabytes(service), time.monotonic()
    with Watch(service, every_s=0.05, probe=False) as watching:
        statuses, spent = [], []
        before = processor_s(service)
        for status in ATTACKS[name](service, random.Random(1)):
            now = processor_s(service)
            statuses.append(status)
            spent.append(now - before)
            before = now
    shown = ", ".join(
        f"{status or 'closed'}: {number}" for status, number in sorted(Counter(statuses).items())
    )
    above = max([rest, *watching.memory]) - rest
    print(
        f"{name:32} at most {max(spent):5.2f} s of processor, {above:5.0f} MB above rest; "
        f"{time.monotonic() - begun:5.1f} s in all; {shown}",
        flush=True,
    )


def processor_s(service: Served) -> float:
    total = 0.0
    for process in processes(service):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


Watched = tuple[list[float], int, list[float]]
"""Milliseconds of /healthz, how often it did not answer 200, and megabytes of the service."""


def watch(service: Served, seconds: float, results: Connection) -> None:
    """Runs in a process of its own: attackers keep the interpreter of this one busy."""
    health: list[float] = []
    memory: list[float] = []
    unhealthy, ends = 0, time.monotonic() + seconds
    while time.monotonic() < ends:
        begun = time.perf_counter()
        try:
            # A connection each time, as a probe makes it.
            status = ask(http.client.HTTPConnection("127.0.0.1", service.port, timeout=30), "/healthz")
        except OSError:
            status = NO_ANSWER
        health.append(1000 * (time.perf_counter() - begun))
        unhealthy += status != 200
        memory.append(megabytes(service))
        time.sleep(WATCH_EVERY_S)
    results.send((health, unhealthy, memory))


def quiet(service: Served, bodies: list[str], clients: int) -> list[float]:
    """Milliseconds of questions without an attacker."""
    seen = Seen()
    ends = time.monotonic() + QUIET_S
    threads = [
        threading.Thread(target=question, args=(service, bodies, n, ends, seen)) for n in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen.answered


def question(service: Served, bodies: list[str], first: int, ends: float, seen: Seen) -> None:
    place = first
    while time.monotonic() < ends:
        place += 1
        for _ in range(TRIES):
            begun = time.perf_counter()
            status, wait_s = _post(
                service, "/v1/search", json.dumps({"body": bodies[place % len(bodies)]}).encode()
            )
            if status == 200:
                seen.answered.append(1000 * (time.perf_counter() - begun))
                break
            seen.refused += 1
            time.sleep(min(wait_s, 10.0))
        else:
            seen.lost += 1
        time.sleep(0.05)


def attack(service: Served, attacks: dict[str, "Attack"], number: int, ends: float, seen: Seen) -> None:
    chance = random.Random(number)
    while time.monotonic() < ends:
        name = chance.choice(sorted(attacks))
        begun = time.perf_counter()
        for status in attacks[name](service, chance):
            seen.statuses[name][status] += 1
        seen.slowest[name] = max(seen.slowest[name], time.perf_counter() - begun)


Attack = Callable[[Served, random.Random], Iterator[int]]


def _post(
    service: Served, path: str, body: bytes, headers: dict[str, str] | None = None, timeout: float = 120.0
) -> tuple[int, float]:
    """The status, and how many seconds to wait if it is a refusal."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=timeout)
    try:
        connection.request("POST", path, body, {**JSON, **(headers or {})})
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException):
        return NO_ANSWER, 1.0
    finally:
        connection.close()
    return response.status, float(response.getheader("Retry-After") or 0.2)


def _sent(service: Served, path: str, body: bytes, headers: dict[str, str] | None = None) -> int:
    return _post(service, path, body, headers)[0]


def _fill(item: str, most: int, head: str, tail: str) -> bytes:
    """JSON with as many of the items as fit."""
    count = (most - len(head) - len(tail)) // (len(item.encode()) + 1)
    return (head + ",".join([item] * count) + tail).encode()


def one_id_in_every_fault(service: Served, chance: random.Random) -> Iterator[int]:
    wrong = ",".join(["1"] * 200_000)
    body = (
        f'{{"submission": {{"questions": [{{"id": "{"x" * 9_000_000}", "documents": [{wrong}]}}]}}}}'.encode()
    )
    yield _sent(service, "/v1/bioasq/validate", body)


def empty_lists(service: Served, chance: random.Random) -> Iterator[int]:
    yield _sent(service, "/v1/bioasq/validate", _fill("[]", UPLOAD, '{"submission": {"questions": [', "]}}"))


def wrong_questions(service: Served, chance: random.Random) -> Iterator[int]:
    yield _sent(service, "/v1/bioasq", _fill("1", BODY, '{"questions": [', "]}"))


def wrong_question_bodies(service: Served, chance: random.Random) -> Iterator[int]:
    yield _sent(service, "/v1/bioasq", _fill('{"id":"a","body":1}', BODY, '{"questions": [', "]}"))


def evaluate_at_its_bound(service: Served, chance: random.Random) -> Iterator[int]:
    snippet = '{"document":"http://www.ncbi.nlm.nih.gov/pubmed/1","text":"a","beginSection":"abstract","endSection":"abstract","offsetInBeginSection":0,"offsetInEndSection":9}'
    half = UPLOAD // 2 - 300
    questions = _fill(
        snippet, half, '{"questions":[{"id":"a","type":"list","body":"b","documents":[],"snippets":[', "]}]}"
    )
    body = b'{"golden": ' + questions + b', "submission": ' + questions + b', "editions": [8]}'
    yield _sent(service, "/v1/bioasq/evaluate", body)


def rerank_unique_words(service: Served, chance: random.Random) -> Iterator[int]:
    text = " ".join(f"{chance.randrange(16**6):06x}" for _ in range(140_000))
    yield _rerank(service, " ".join(text.split()[:120]), [text])


def rerank_tiny_sentences(service: Served, chance: random.Random) -> Iterator[int]:
    query = " ".join(f"w{chance.randrange(9999)}" for _ in range(150))
    yield _rerank(service, query, [f"{n} " + "Ab cd. " * 140 for n in range(990)])


def rerank_letters_outside_ascii(service: Served, chance: random.Random) -> Iterator[int]:
    yield _rerank(service, "é1 é2", [" ".join(f"é{n}" for n in range(140_000))])


def rerank_empty_texts(service: Served, chance: random.Random) -> Iterator[int]:
    yield _sent(service, "/v1/rerank", _fill('""', BODY, '{"query": "a", "documents": [', "]}"))


def _rerank(service: Served, query: str, texts: list[str]) -> int:
    body = json.dumps({"query": query[:1000], "documents": texts}, ensure_ascii=False).encode()
    return _sent(service, "/v1/rerank", body)


def questions_of_many_words(service: Served, chance: random.Random) -> Iterator[int]:
    for _ in range(5):
        words = " ".join(f"{chance.randrange(16**4):x}" for _ in range(400))
        yield _sent(service, "/v1/search", json.dumps({"body": words[:1000], "candidates": 1000}).encode())


def deep_json(service: Served, chance: random.Random) -> Iterator[int]:
    for path in ("/v1/search", "/v1/bioasq", "/v1/bioasq/validate"):
        yield _sent(service, path, b"[" * 900_000 + b"]" * 900_000)


@cache
def _bomb() -> bytes:
    return gzip.compress(b"[" + b" " * 300_000_000 + b"]", 9)


def gzip_bomb(service: Served, chance: random.Random) -> Iterator[int]:
    head = b'--x\r\nContent-Disposition: form-data; name="submission"; filename="a.gz"\r\n\r\n'
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    yield _sent(service, "/v1/bioasq/validate", head + _bomb() + b"\r\n--x--\r\n", form)


def batches_without_end(service: Served, chance: random.Random) -> Iterator[int]:
    questions = [{"id": str(n), "type": "list", "body": "metformin " * 90} for n in range(50)]
    for _ in range(10):
        yield _sent(service, "/v1/bioasq/batches", json.dumps({"questions": questions}).encode())


def silent_connections(service: Served, chance: random.Random) -> Iterator[int]:
    yield from _half_sent(service, b"", 60)


def half_sent_headers(service: Served, chance: random.Random) -> Iterator[int]:
    yield from _half_sent(service, b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Half: ", 60)


def half_sent_bodies(service: Served, chance: random.Random) -> Iterator[int]:
    head = b"POST /v1/search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: 900000\r\n\r\n{"
    yield from _half_sent(service, head, 60)


def _half_sent(service: Served, sent: bytes, count: int) -> Iterator[int]:
    """Opened, and left alone for a second."""
    held = []
    for _ in range(count):
        with suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", service.port), timeout=30)
            held.append(connection)
            connection.sendall(sent)
    time.sleep(1.0)
    for connection in held:
        connection.close()
    yield NO_ANSWER


def empty_gzip_members(service: Served, chance: random.Random) -> Iterator[int]:
    empty = gzip.compress(b"")
    body = empty * (UPLOAD // len(empty))
    yield _sent(service, "/v1/bioasq/validate", body, {"Content-Encoding": "gzip"})


def many_documents(service: Served, chance: random.Random) -> Iterator[int]:
    """Most of the PMIDs are in no index: looking for them costs, too."""
    pmids = [str(chance.randrange(1, 40_000_000)) for _ in range(500)]
    for _ in range(5):
        yield _sent(service, "/v1/documents", json.dumps({"pmids": pmids}).encode())


def many_citations(service: Served, chance: random.Random) -> Iterator[int]:
    pmids = [str(chance.randrange(1, 40_000_000)) for _ in range(1000)]
    yield _sent(service, "/v1/citations", json.dumps({"pmids": pmids, "format": "apa"}).encode())


def uploads_at_once(service: Served, chance: random.Random) -> Iterator[int]:
    body = _fill('{"id":"1","snippets":[1,2,3]}', UPLOAD, '{"submission": {"questions": [', "]}}")
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(_sent(service, "/v1/bioasq/validate", body)))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield from statuses


def one_long_word(service: Served, chance: random.Random) -> Iterator[int]:
    for word in ("".join(chance.choices("ACGT", k=996)), "x" * 1000 + "*[ti]", "pmcid" + " " * 9990 + "x"):
        yield _sent(service, "/v1/search", json.dumps({"body": word}).encode())


def explain_misspelt_words(service: Served, chance: random.Random) -> Iterator[int]:
    words = " ".join("".join(chance.choices("aeioprstln", k=12)) for _ in range(60))
    asked = {"body": words, "pmid": "1", "candidates": 1000}
    yield _sent(service, "/v1/explain", json.dumps(asked).encode())


def half_characters(service: Served, chance: random.Random) -> Iterator[int]:
    yield _sent(service, "/v1/rerank", b'{"query": "a", "documents": ["\\ud83d"]}')
    yield _sent(service, "/v1/rerank", b'{"query": "a", "documents": ["b"], "\\udc00": 1}')


def page_of_many_filters(service: Served, chance: random.Random) -> Iterator[int]:
    given = [(name, f"{name}{n}") for name in ("type", "journal", "mesh", "author") for n in range(50)]
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    with suppress(OSError), closing(connection):
        connection.request("GET", "/?" + urlencode([("q", "patients"), *given]))
        response = connection.getresponse()
        response.read()
        yield response.status


def slow_readers(service: Served, chance: random.Random) -> Iterator[int]:
    """From another address of this machine, so that its limit holds up nobody else."""
    held = []
    source = (f"127.0.0.{chance.randrange(2, 250)}", 0)
    for _ in range(60):
        with suppress(OSError):
            reader = socket.socket()
            held.append(reader)
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            reader.bind(source)
            reader.settimeout(5)
            reader.connect(("127.0.0.1", service.port))
            reader.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    time.sleep(2.0)
    for reader in held:
        reader.close()
    yield NO_ANSWER


def no_http(service: Served, chance: random.Random) -> Iterator[int]:
    for sent in (
        b"\x00" * 70_000,
        b"GET / HTTP/1.1\r\n" + b"X: " + b"a" * 70_000 + b"\r\n\r\n",
        b"\r\n" * 1000,
    ):
        with (
            suppress(OSError),
            socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection,
        ):
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            said = connection.recv(100)
            yield int(said.split()[1]) if said.startswith(b"HTTP/") else NO_ANSWER


ATTACKS: dict[str, Attack] = {
    made.__name__.replace("_", "-"): made
    for made in (
        one_id_in_every_fault,
        empty_lists,
        wrong_questions,
        wrong_question_bodies,
        evaluate_at_its_bound,
        rerank_unique_words,
        rerank_tiny_sentences,
        rerank_letters_outside_ascii,
        rerank_empty_texts,
        questions_of_many_words,
        deep_json,
        gzip_bomb,
        batches_without_end,
        silent_connections,
        half_sent_headers,
        half_sent_bodies,
        empty_gzip_members,
        many_documents,
        many_citations,
        uploads_at_once,
        one_long_word,
        explain_misspelt_words,
        half_characters,
        page_of_many_filters,
        slow_readers,
        no_http,
    )
}


if __name__ == "__main__":
    main()

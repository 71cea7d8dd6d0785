"""docker-compose.yml: one Elasticsearch and one service."""

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path

from deploy.rehearsal import monitoring
from deploy.rehearsal.engine import IMAGE, Project, Report, Substitutes, run, wait
from deploy.rehearsal.load import Load, ask, request

PORT = 8000
BACKUP = """
import sqlite3
sqlite3.connect('/data/batches/batches.sqlite').backup(sqlite3.connect('/tmp/batches.sqlite'))"""


def rehearse(report: Report, substitutes: Substitutes, folder: Path, arguments: Mapping[str, str]) -> None:
    project = Project("rehearsal", ["docker-compose.yml"], substitutes, folder, **arguments)
    try:
        _image(report, project)
        _start(report, project)
        _survive(report, project)
        _keep(report, project)
        monitoring.rehearse(report, project, substitutes, folder)
        _deep(report, substitutes, folder, arguments)
    finally:
        project.compose("--profile", "tools", "down", "--volumes", "--timeout", "40")


def _image(report: Report, project: Project) -> None:
    with report.step("build") as facts:
        begun = time.monotonic()
        project.compose("build", "bioqa", timeout_s=3600)
        facts.append(f"built in {time.monotonic() - begun:.0f} s, as far as it was not cached")
        layers = _layers()
        project.environment["COMMIT"] = "0" * 40
        begun = time.monotonic()
        project.compose("build", "bioqa")
        new = [size for layer, size in _layers().items() if layer not in layers]
        facts.append(f"another commit: {time.monotonic() - begun:.0f} s, new layers of {' + '.join(new)}")
    with report.step("files of the image can be read by everybody") as facts:
        hidden = "find /opt/bioqa ! -perm -o=r ! -type l | wc -l"
        found = run("docker", "run", "--rm", "--entrypoint", "sh", IMAGE, "-c", hidden).strip()
        if found != "0":
            raise ValueError(f"{found} cannot")
        facts.append(run("docker", "run", "--rm", IMAGE, "--version").strip())


def _layers() -> dict[str, str]:
    """The sizes of the image's layers by their digests."""
    (described,) = json.loads(run("docker", "image", "inspect", IMAGE))
    history = run("docker", "history", "--no-trunc", "--format", "{{.Size}} {{.CreatedBy}}", IMAGE)
    made = [line.split() for line in history.splitlines() if re.search(r"^\S+ (RUN|COPY|WORKDIR) ", line)]
    return dict(zip(reversed(described["RootFS"]["Layers"]), (size for size, *_ in made), strict=False))


def _start(report: Report, project: Project) -> None:
    with report.step("up") as facts:
        begun = time.monotonic()
        project.compose("up", "--detach", "bioqa")
        wait(lambda: project.health("bioqa") == "healthy", 300, "healthy")
        facts.append(f"healthy after {time.monotonic() - begun:.0f} s")
        described = project.inspect("bioqa")
        if not described["HostConfig"]["ReadonlyRootfs"] or described["HostConfig"]["CapDrop"] != ["ALL"]:
            raise ValueError("not read-only, or with capabilities")
        facts.append(project.compose("exec", "bioqa", "id").strip())
    with report.step("a question") as facts:
        answer = ask(PORT)
        facts.append(f"first of {len(answer['documents'])}: {answer['documents'][0]['pmid']}")
    with report.step("memory and processor time, of all processes") as facts:
        time.sleep(3)
        for _ in range(5):
            ask(PORT)
        metrics = monitoring.metrics(request(PORT, "/metrics")[1])
        told, counted = metrics["bioqa_memory_bytes"] / 1e6, project.memory_mb("bioqa")
        alone = metrics["process_resident_memory_bytes"] / 1e6
        facts.append(
            f"/metrics {told:.0f} MB in {metrics['bioqa_processes']:.0f} processes, the engine {counted:.0f}"
            f" MB, the process that speaks HTTP {alone:.0f} MB"
        )
        facts.append(
            f"processor {metrics['bioqa_processor_seconds_total']:.1f} s, of that process "
            f"{metrics['process_cpu_seconds_total']:.1f} s"
        )
        if not 0.6 < told / counted < 1.5:
            raise ValueError("they differ")
    with report.step("lines of the log at rest for 20 s, and of a question") as facts:
        before = _log_lines(project)
        time.sleep(20)
        rest = _log_lines(project)
        ask(PORT)
        facts.append(f"{rest - before} and {_log_lines(project) - rest}")


def _log_lines(project: Project) -> int:
    return len(project.compose("logs", "--no-log-prefix", "bioqa").splitlines())


def _survive(report: Report, project: Project) -> None:
    first = ask(PORT)["documents"]

    def healthy() -> bool:
        return project.health("bioqa") == "healthy" and ask(PORT)["documents"] == first

    with report.step("restart of everything") as facts:
        project.compose("restart", "elasticsearch", "bioqa")
        facts.append(f"same answer after {wait(healthy, 180, 'healthy'):.0f} s")
    with report.step("up once more: the sample is there") as facts:
        project.compose("up", "--detach", "bioqa")
        code = project.inspect("sample")["State"]["ExitCode"]
        facts.append(f"sample ended with {code}")
        if code:
            raise ValueError(project.compose("logs", "--tail", "3", "sample"))
    with report.step("restart of the project, the sample included") as facts:
        project.compose("restart")
        wait(healthy, 180, "healthy")
        ended = wait(lambda: project.inspect("sample")["State"]["Status"] == "exited", 120, "sample ended")
        code = project.inspect("sample")["State"]["ExitCode"]
        facts.append(f"sample ended with {code} after {ended:.0f} s")
        if code:
            raise ValueError(project.compose("logs", "--tail", "3", "sample"))
    for service in ("elasticsearch", "bioqa"):
        with report.step(f"kill -9 of {service}") as facts:
            project.kill(service)
            time.sleep(1)
            facts.append(f"same answer after {1 + wait(healthy, 180, 'healthy'):.0f} s")


def _keep(report: Report, project: Project) -> None:
    with report.step("a batch, kill -9 in the middle of it") as facts:
        questions = [
            {"id": f"q{n}", "body": f"statins and myopathy {n}", "type": "summary"} for n in range(60)
        ]
        status, batch = request(PORT, "/v1/bioasq/batches", {"questions": questions})
        if status not in (200, 201, 202):
            raise ValueError(f"{status}: {batch}")
        where = f"/v1/bioasq/batches/{batch['id']}"
        wait(lambda: request(PORT, where)[1]["answered"] > 0, 60, "begun")
        project.kill("bioqa")
        time.sleep(1)
        wait(lambda: request(PORT, where)[1]["state"] == "done", 180, "done")
        facts.append(f"{request(PORT, where)[1]['answered']} of 60 answered")
    with report.step("backup of the batches and restore, as documented") as facts:
        project.compose("exec", "-T", "bioqa", "python", "-c", BACKUP)
        copy = project.compose("exec", "-T", "bioqa", "base64", "/tmp/batches.sqlite")
        request(PORT, where, None)
        project.compose("stop", "bioqa")
        script = "rm -f /data/batches/batches.sqlite* && base64 -d > /data/batches/batches.sqlite"
        project.compose(
            "run", "--rm", "--no-deps", "-T", "--entrypoint", "sh", "bioqa", "-c", script, given=copy.encode()
        )
        project.compose("start", "bioqa")
        wait(lambda: project.health("bioqa") == "healthy", 120, "healthy")
        facts.append(f"the batch is {request(PORT, where)[1]['state']}")
        status, _ = request(PORT, "/v1/bioasq/batches", {"questions": questions[:1]})
        facts.append(f"another is accepted with {status}")
        if status not in (200, 201, 202):
            raise ValueError("the restored file cannot be written")
    with report.step("down and up: all is kept") as facts:
        first = ask(PORT)["documents"]
        project.compose("down")
        project.compose("up", "--detach", "bioqa")
        facts.append(
            f"same answer after {wait(lambda: ask(PORT)['documents'] == first, 180, 'same answer'):.0f} s"
        )
        facts.append(f"the batch is {request(PORT, where)[1]['state']}")


def _deep(report: Report, substitutes: Substitutes, folder: Path, arguments: Mapping[str, str]) -> None:
    """The memory of the largest bundled ranker, by the number of its processes."""
    for processes in (1, 2, 4):
        project = Project(
            "rehearsal",
            ["docker-compose.yml"],
            substitutes,
            folder,
            **arguments,
            BIOQA_RANKER="deep",
            BIOQA_RANKING_PROCESSES=str(processes),
            BIOQA_MEMORY="8g",
        )
        with report.step(f"deep in {processes} processes") as facts:
            project.compose("up", "--detach", "bioqa")
            wait(lambda: project.health("bioqa") == "healthy", 240, "healthy")  # noqa: B023
            rest = project.memory_mb("bioqa")
            with Load(PORT, clients=4) as load:
                time.sleep(60)
            facts.append(
                f"{rest:.0f} MB at rest, {project.memory_mb('bioqa'):.0f} MB after: {load.summary()}"
            )

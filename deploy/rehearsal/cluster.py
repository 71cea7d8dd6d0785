"""docker-compose.cluster.yml: three nodes, two replicas of the service, a proxy."""

import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from deploy.rehearsal import medline, monitoring
from deploy.rehearsal.engine import ROOT, Failed, Project, Report, Substitutes, run, wait
from deploy.rehearsal.load import Load, ask, request

PORT = 8000
FILE = "docker-compose.cluster.yml"
NODES = ("es1", "es2", "es3")


def rehearse(report: Report, substitutes: Substitutes, folder: Path, arguments: Mapping[str, str]) -> None:
    source = folder / "medline"
    citations = medline.write_medline(source)
    project = Project("rehearsal-cluster", [FILE], substitutes, folder, **arguments, MEDLINE=str(source))
    try:
        _build(report, project, citations)
        _replicas(report, project)
        _nodes(report, project)
        _hosts(report, project)
        _updates(report, project, source, citations)
        _watch(report, project, substitutes, folder)
    finally:
        project.compose("--profile", "tools", "down", "--volumes", "--timeout", "40")


def update(project: Project, *options: str, timeout_s: float = 1800) -> str:
    """Run `bioqa update` of the files, as the documents say."""
    return project.compose(
        "run", "--rm", "-T", "tools", "update", "--from", "medline", *options, timeout_s=timeout_s
    )


def documents(project: Project) -> int:
    return int(json.loads(project.compose("run", "--rm", "-T", "tools", "info", "--json"))["documents"])


def healthy_nodes(project: Project) -> bool:
    return all(project.health(node) == "healthy" for node in NODES)


def green(project: Project) -> bool:
    path = "http://localhost:9200/_cluster/health?wait_for_status=green&timeout=5s"
    health = json.loads(project.compose("exec", "-T", "es1", "curl", "-fsS", path))
    return bool(health["status"] == "green") and health["number_of_nodes"] == 3


def _build(report: Report, project: Project, citations: int) -> None:
    with report.step("cluster up") as facts:
        project.compose("build", "bioqa-1", timeout_s=3600)
        project.compose("up", "--detach", *NODES, "bioqa-1", "bioqa-2", "proxy")
        facts.append(f"nodes healthy after {wait(lambda: healthy_nodes(project), 300, 'healthy'):.0f} s")
        status, _ = request(PORT, "/v1/search", {"body": "asthma"})
        facts.append(f"without an index a question gets {status}")
    with report.step("first build; a node is killed in the middle of it, another hangs for 20 s") as facts:
        command = ("run", "--rm", "-T", "tools", "update", "--from", "medline")
        begun = time.monotonic()
        with _background(project, *command) as process:
            time.sleep(12)
            project.kill("es2")
            time.sleep(10)
            running = process.poll() is None
            run("docker", "pause", project.container("es3"))
            time.sleep(20)
            run("docker", "unpause", project.container("es3"))
            output, _ = process.communicate(timeout=1800)
        facts.append(f"ended with {process.returncode} after {time.monotonic() - begun:.0f} s")
        facts.append(f"under way when the second node hung: {running}")
        if process.returncode:
            raise ValueError(output.decode(errors="replace")[-600:])
        found = documents(project)
        facts.append(f"{found} of {citations} citations")
        if found != citations:
            raise ValueError("not all")
    with report.step("ready, and a question") as facts:
        wait(lambda: bool(ask(PORT)["documents"]), 120, "answered")
        facts.append(f"green after {wait(lambda: green(project), 180, 'green'):.0f} s more")


def _background(project: Project, *words: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, **project.environment}
    return subprocess.Popen(
        [*project.command, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=ROOT,
    )


def _replicas(report: Report, project: Project) -> None:
    for replica in ("bioqa-1", "bioqa-2"):
        with report.step(f"{replica} stopped and started under load") as facts:
            with Load(PORT) as load:
                time.sleep(5)
                begun = time.monotonic()
                project.compose("stop", replica)
                facts.append(f"stopped in {time.monotonic() - begun:.0f} s")
                time.sleep(3)
                project.compose("start", replica)
                wait(lambda: project.health(replica) == "healthy", 120, "healthy")  # noqa: B023
                time.sleep(5)
            facts.append(load.summary())
            if load.failed:
                raise ValueError("some failed")
    with report.step("kill -9 of bioqa-1 under load") as facts:
        with Load(PORT) as load:
            time.sleep(5)
            project.kill("bioqa-1")
            time.sleep(2)
            wait(lambda: project.health("bioqa-1") == "healthy", 120, "healthy")
            time.sleep(5)
        facts.append(load.summary())


def master(project: Project) -> str:
    path = "http://localhost:9200/_cat/master?h=node"
    return project.compose("exec", "-T", "es1", "curl", "-fsS", path).strip()


def _nodes(report: Report, project: Project) -> None:
    with report.step("kill -9 of the master under load") as facts:
        node = master(project)
        with Load(PORT) as load:
            time.sleep(5)
            project.kill(node)
            time.sleep(5)
            wait(lambda: healthy_nodes(project), 180, "healthy")
            time.sleep(5)
        facts.append(f"{node}: {load.summary()}")
        wait(lambda: green(project), 180, "green")
    with report.step("a node stopped and started under load") as facts:
        with Load(PORT) as load:
            time.sleep(5)
            project.compose("stop", "es3")
            time.sleep(10)
            project.compose("start", "es3")
            wait(lambda: healthy_nodes(project), 180, "healthy")
            time.sleep(5)
        facts.append(load.summary())
        wait(lambda: green(project), 180, "green")


def _hosts(report: Report, project: Project) -> None:
    """A host that the replicas ask drops packets, or hangs."""
    for number, node in enumerate(NODES[1:]):
        what = ("its cable is cut", "it hangs")[number]
        with report.step(f"{node} under load: {what} for 60 s") as facts:
            with Load(PORT) as load:
                time.sleep(5)
                if number == 0:
                    project.interface(node, up=False)
                else:
                    run("docker", "pause", project.container(node))
                time.sleep(60)
                late = len(load.times)
                time.sleep(5)
                facts.append(f"{(len(load.times) - late) / 5:.0f} questions a second at the end")
                if number == 0:
                    project.compose("restart", node)  # the interface's routes went with it
                else:
                    run("docker", "unpause", project.container(node))
                wait(lambda: healthy_nodes(project), 180, "healthy")
                time.sleep(5)
            facts.append(load.summary())
            slow = sorted(load.times)[-5:]
            facts.append(f"the slowest five {[round(seconds, 1) for seconds in slow]} s")
            ready = [project.health(replica) for replica in ("bioqa-1", "bioqa-2")]
            facts.append(f"replicas {' and '.join(ready)}")
            wait(lambda: green(project), 240, "green")
            if load.failed:
                raise ValueError("some failed")


def _updates(report: Report, project: Project, source: Path, citations: int) -> None:
    with report.step("daily update under load: 168 revised or new citations, 10 deleted") as facts:
        medline.write_update(source, 5, range(500, 501), deleted=10)
        facts.append(update(project, "--dry-run").strip().splitlines()[-1].strip())
        with Load(PORT) as load:
            update(project)
        facts.append(load.summary())
        found = documents(project)
        facts.append(f"{found} citations")
        if found != citations + medline.SAMPLE_CITATIONS - 10:
            raise ValueError("not what was expected")
    with report.step("rebuild under load, the process killed in the middle, resumed") as facts:
        with Load(PORT) as load:
            named = ("run", "-T", "--name", "rehearsal-update", "tools")
            with _background(project, *named, "update", "--from", "medline", "--rebuild") as process:
                time.sleep(14)
                run("docker", "kill", "--signal", "KILL", "rehearsal-update")
                process.communicate(timeout=60)
            facts.append(f"killed, exit code {process.returncode}")
            run("docker", "rm", "--force", "rehearsal-update")
            begun = time.monotonic()
            tries = 0
            while True:
                tries += 1
                try:
                    update(project, "--rebuild")
                except Failed as failed:
                    if "under way" not in str(failed) or time.monotonic() - begun > 900:
                        raise
                    time.sleep(5)
                else:
                    break
        facts.append(f"resumed and served after {time.monotonic() - begun:.0f} s, {tries} tries")
        facts.append(load.summary())
        if load.failed:
            raise ValueError("some failed")
    with report.step("rollback") as facts:
        update(project, "--rollback")
        wait(lambda: bool(ask(PORT)["documents"]), 60, "answered")
        facts.append(f"{documents(project)} citations")


def _watch(report: Report, project: Project, substitutes: Substitutes, folder: Path) -> None:
    with report.step("monitoring of the cluster") as facts:
        watched = monitoring.with_prometheus(project, [FILE], substitutes, folder, PROMETHEUS="cluster")
        watched.compose("up", "--detach", "--no-deps", "prometheus")
        expected = {"bioqa-1:8000": "up", "bioqa-2:8000": "up"}
        wait(lambda: monitoring.targets_up() == expected, 120, "both replicas up")
        facts.append(f"{expected}")
        time.sleep(10)
        ready = monitoring.query(f"query?query={quote('bioqa_ready')}")["result"]
        facts.append(f"bioqa_ready of {len(ready)}")
        watched.compose("rm", "--stop", "--force", "prometheus")

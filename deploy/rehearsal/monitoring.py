"""Prometheus with the rules of deploy/prometheus, and what the dashboard asks."""

import json
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from deploy.rehearsal.engine import ROOT, Project, Report, Substitutes, wait
from deploy.rehearsal.load import Load, request

PORT, PROMETHEUS = 8000, 9090
FOR = "15s"
"""In the place of the rules' own times, which are minutes."""


def metrics(text: str) -> dict[str, float]:
    """The metrics without labels of a page of /metrics."""
    return {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", text, re.M)}


def with_prometheus(
    project: Project, files: list[str], substitutes: Substitutes, folder: Path, **environment: str
) -> Project:
    """The project with Prometheus, whose rules wait less."""
    rules = folder / "prometheus"
    rules.mkdir(exist_ok=True)
    rules.chmod(0o755)
    for source in (ROOT / "deploy" / "prometheus").iterdir():
        text = source.read_text(encoding="utf-8")
        text = re.sub(r"for: \d+m", f"for: {FOR}", text).replace("[5m]", "[1m]")
        (rules / source.name).write_text(text.replace("interval: 15s", "interval: 5s"), encoding="utf-8")
        (rules / source.name).chmod(0o644)
    extra = folder / "rules.yml"
    mounted = {"volumes": [f"{rules}:/etc/prometheus:ro"]}
    extra.write_text(json.dumps({"services": {"prometheus": mounted}}))
    given = {**project.environment, **environment}
    return Project(
        project.name, [*files, "docker-compose.observe.yml", str(extra)], substitutes, folder, **given
    )


def query(path: str) -> Any:
    status, answer = request(PROMETHEUS, f"/api/v1/{path}")
    if status != 200:
        raise ValueError(f"{path}: {status} {answer}")
    return answer["data"]


def targets_up() -> dict[str, str]:
    return {target["labels"]["instance"]: target["health"] for target in query("targets")["activeTargets"]}


def firing() -> set[str]:
    return {alert["labels"]["alertname"] for alert in query("alerts")["alerts"] if alert["state"] == "firing"}


def expressions() -> list[str]:
    dashboard = json.loads((ROOT / "deploy/grafana/dashboards/bioqa.json").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    return [text.replace("$__rate_interval", "1m").replace("$instance", ".*") for text in asked]


def rehearse(report: Report, project: Project, substitutes: Substitutes, folder: Path) -> None:
    """With the project running; the alerts that can be brought about in minutes."""
    watched = with_prometheus(project, ["docker-compose.yml"], substitutes, folder)
    try:
        _watch(report, watched)
    finally:
        watched.compose("rm", "--stop", "--force", "prometheus")


def _watch(report: Report, project: Project) -> None:
    with report.step("Prometheus") as facts:
        project.compose("up", "--detach", "--no-deps", "prometheus")
        wait(lambda: targets_up() == {"bioqa:8000": "up"}, 120, "target up")
        groups = query("rules")["groups"]
        facts.append(f"{sum(len(group['rules']) for group in groups)} rules, waiting {FOR} each")
        check = ("exec", "-T", "prometheus", "promtool", "check", "config", "/etc/prometheus/prometheus.yml")
        facts.append(project.compose(*check).strip().splitlines()[-1].strip())
    with report.step("what the dashboard asks") as facts:
        with Load(PORT, clients=2):
            time.sleep(30)
        asked = expressions()
        empty = [text for text in asked if not query(f"query?query={quote(text)}")["result"]]
        facts.append(f"{len(asked) - len(empty)} of {len(asked)} queries return something")
        if empty:
            facts.append(f"not {empty}")
    with report.step("no alert fires while all is well") as facts:
        if fired := firing():
            raise ValueError(f"{fired}")
    with report.step("alerts: Elasticsearch stopped") as facts:
        project.compose("stop", "elasticsearch")
        expected = {"BioqaNotReady", "BioqaErrors", "BioqaFailing"}
        with Load(PORT, clients=2) as load:
            wait(lambda: expected <= firing(), 240, f"{sorted(expected)} fire")
            time.sleep(75)  # more than the minute that the rule looks back
            rate = quote(errors_expression())
            share = float(query(f"query?query={rate}")["result"][0]["value"][1])
        facts.append(f"{sorted(firing())} fire, {share:.0%} of requests end in 5xx; {load.summary()}")
        project.compose("start", "elasticsearch")
        wait(lambda: project.health("bioqa") == "healthy", 120, "healthy")
        wait(lambda: not {"BioqaNotReady", "BioqaErrors"} & firing(), 240, "quiet")
        facts.append("and end")
    with report.step("alerts: ranking processes killed") as facts:
        with Load(PORT, clients=2) as load:
            for _ in range(4):
                project.compose("exec", "-T", "bioqa", "python", "-c", _KILL_RANKING)
                time.sleep(8)
            wait(lambda: "BioqaProcessesReplaced" in firing(), 120, "BioqaProcessesReplaced fires")
        facts.append(f"BioqaProcessesReplaced fires; {load.summary()}")
    with report.step("alerts: killed three times, then stopped") as facts:
        for _ in range(3):
            project.kill("bioqa")
            time.sleep(2)
            wait(lambda: project.health("bioqa") == "healthy", 120, "healthy")
            time.sleep(6)
        wait(lambda: "BioqaRestarted" in firing(), 120, "BioqaRestarted fires")
        project.compose("stop", "bioqa")
        wait(lambda: "BioqaDown" in firing(), 120, "BioqaDown fires")
        facts.append("BioqaRestarted, BioqaDown fire")
        project.compose("start", "bioqa")
        wait(lambda: project.health("bioqa") == "healthy", 120, "healthy")


def errors_expression() -> str:
    text = (ROOT / "deploy/prometheus/alerts.yml").read_text(encoding="utf-8")
    found = re.search(r"alert: BioqaErrors\s+expr: >-\s+(.*?) > 0\.02", text, re.S)
    if found is None:
        raise ValueError("no rule BioqaErrors")
    return found[1].replace("[5m]", "[1m]")


_KILL_RANKING = """
import os, pathlib
for entry in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        command = (entry / "cmdline").read_bytes()
    except OSError:
        continue
    if b"bioqa.app.answers" in command and int(entry.name) != os.getpid():
        os.kill(int(entry.name), 9)
"""

"""Dashboard, alerts and scraping ask for metrics and labels that there are, in PromQL that can be read."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from tests.app.requests import BODY

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana/dashboards/bioqa.json").read_text(encoding="utf-8"))
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
GROUPS = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text(encoding="utf-8"))["groups"]
RULES: list[dict[str, Any]] = [rule for group in GROUPS for rule in group["rules"]]
SCRAPED = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text(encoding="utf-8"))
OBSERVED = yaml.safe_load((ROOT / "docker-compose.observe.yml").read_text(encoding="utf-8"))["services"]

OF_PROMETHEUS = {"job", "instance", "le"}
"""Labels that are there without the service's doing."""

EXPRESSIONS = [
    *((panel["title"], target["expr"]) for panel in PANELS for target in panel.get("targets", [])),
    *((rule["alert"], rule["expr"]) for rule in RULES),
]


def selected(expression: str) -> list[tuple[str, set[str]]]:
    text = expression.replace("$__rate_interval", "5m").replace("$instance", ".*")
    return list(_selectors(promql_parser.parse(text)))


def _selectors(expression: Any) -> Iterator[tuple[str, set[str]]]:
    if isinstance(expression, promql_parser.VectorSelector):
        yield expression.name or "", {matcher.name for matcher in expression.matchers.matchers}
    for part in ("lhs", "rhs", "expr", "vector_selector"):
        if hasattr(expression, part):
            yield from _selectors(getattr(expression, part))
    for argument in getattr(expression, "args", []):
        yield from _selectors(argument)


@pytest.fixture(scope="module")
def exposed(engine: Engine) -> dict[str, set[str]]:
    """Each sample's name with its labels, of a service that has answered a question."""
    with TestClient(create_app(Settings(), engine)) as client:
        client.post("/v1/search", json={"body": BODY})
        text = client.get("/metrics").text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {sample.name: set(sample.labels) for sample in samples} | {"up": set()}


@pytest.mark.parametrize(("where", "expression"), EXPRESSIONS)
def test_queries_ask_for_what_there_is(exposed: dict[str, set[str]], where: str, expression: str) -> None:
    found = selected(expression)
    assert found
    for name, labels in found:
        assert name in exposed, where
        assert labels <= exposed[name] | OF_PROMETHEUS, where
    grouped = {label for group in re.findall(r"\bby \((.*?)\)", expression) for label in group.split(", ")}
    assert grouped <= OF_PROMETHEUS.union(*(exposed[name] for name, _ in found)), where


def test_every_metric_of_the_service_is_shown_somewhere(exposed: dict[str, set[str]]) -> None:
    shown = {name for _, expression in EXPRESSIONS for name, _ in selected(expression)}
    families = {re.sub(r"_(bucket|sum|count|created)$", "", name) for name in shown}
    ours = {
        re.sub(r"_(bucket|sum|count|created)$", "", name) for name in exposed if name.startswith("bioqa_")
    }
    assert ours - families <= {"bioqa_info", "bioqa_ranker_info", "bioqa_truncated_sentences"}


def test_every_metric_is_documented_and_no_other(exposed: dict[str, set[str]]) -> None:
    text = (ROOT / "docs/observability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`bioqa_.*?`) \|", text, re.M)
    documented = set()
    for row in rows:
        first, *others = re.findall(r"`(\w+)`", row)
        documented |= {first, *(first.rpartition("_")[0] + other for other in others)}
    ours = {
        re.sub(r"_(bucket|sum|count|created)$", "", name) for name in exposed if name.startswith("bioqa_")
    }
    assert documented == ours - {"bioqa_truncated_sentences"}


def test_panels_do_not_overlap_and_have_the_datasource_that_is_chosen() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    places = [tuple(panel["gridPos"][side] for side in "xywh") for panel in PANELS]
    for n, (x, y, w, h) in enumerate(places):
        assert 0 <= x < x + w <= 24
        for x2, y2, w2, h2 in places[n + 1 :]:
            assert x2 >= x + w or x >= x2 + w2 or y2 >= y + h or y >= y2 + h2
    variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    assert variables == {"datasource", "instance"}
    for panel in PANELS:
        for target in panel.get("targets", []):
            assert target["datasource"]["uid"] == panel["datasource"]["uid"] == "${datasource}"


def test_alerts_have_names_severities_and_a_section_for_the_operator() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names)
    text = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"]["summary"]
        assert f"`{rule['alert']}`" in text


def test_prometheus_finds_the_service_and_its_rules_and_grafana_finds_both() -> None:
    (job,) = SCRAPED["scrape_configs"]
    assert job["job_name"] == "bioqa"
    assert job["static_configs"] == [{"targets": ["bioqa:8000"]}]
    assert "bioqa" in yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    mounted = {}
    for service in OBSERVED.values():
        for volume in service["volumes"]:
            source, target, *_ = volume.split(":")
            if source.startswith("./"):
                assert (ROOT / source).is_dir()
                mounted[target] = ROOT / source
    assert all((mounted["/etc/prometheus"] / name).is_file() for name in SCRAPED["rule_files"])
    provisioning = mounted["/etc/grafana/provisioning"]
    (source,) = yaml.safe_load((provisioning / "datasources/prometheus.yml").read_text())["datasources"]
    assert source["url"] == "http://prometheus:9090"
    (provider,) = yaml.safe_load((provisioning / "dashboards/bioqa.yml").read_text())["providers"]
    assert list(mounted[provider["options"]["path"]].glob("*.json"))

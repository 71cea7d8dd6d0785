"""What of the rehearsal on a container engine can be checked without one."""

import json
from pathlib import Path

import pytest
import yaml

from bioqa.indexer.loading.run import load
from bioqa.indexer.opening import open_index
from deploy.rehearsal import medline, monitoring
from deploy.rehearsal.cluster import NODES
from deploy.rehearsal.engine import ROOT, Report, Substitutes, base_image
from deploy.rehearsal.load import Load

RESULT = (ROOT / "deploy" / "rehearsal.txt").read_text(encoding="utf-8")


def test_its_medline_can_be_loaded_and_updated(tmp_path: Path) -> None:
    source, index = tmp_path / "medline", tmp_path / "index"
    citations = medline.write_medline(source, files=2, copies=2)
    medline.write_update(source, 3, range(50, 51), deleted=10)
    load(sorted((source / "baseline").iterdir()), index)
    assert open_index(str(index)).stats().documents == citations == 672
    load(sorted((source / "updatefiles").iterdir()), index)
    assert open_index(str(index)).stats().documents == citations + 168 - 10


def test_what_takes_the_place_of_published_images() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.cluster.yml").read_text(encoding="utf-8"))["services"]
    given = Substitutes({"elasticsearch": "es:mine", "haproxy": "proxy:mine"}, "python:mine", 1024)
    changed = given.override(services)["services"]
    for node in NODES:
        assert changed[node] == {
            "image": "es:mine",
            "pull_policy": "never",
            "ulimits": {"nofile": 1024},
        }
    assert changed["proxy"]["image"] == "proxy:mine"
    assert changed["bioqa-1"]["build"]["additional_contexts"] == {base_image(): "docker-image://python:mine"}
    assert Substitutes().override(services) == {"services": {}}


def test_every_query_and_rule_of_the_monitoring_is_tried() -> None:
    dashboard = json.loads((ROOT / "deploy/grafana/dashboards/bioqa.json").read_text(encoding="utf-8"))
    assert len(monitoring.expressions()) == sum(len(p.get("targets", [])) for p in dashboard["panels"])
    assert "bioqa_request_duration_seconds_count" in monitoring.errors_expression()
    assert monitoring.metrics('# HELP a\na 1\nb{c="d"} 2\n') == {"a": 1.0}


def test_a_step_that_fails_is_reported_and_the_next_one_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks() -> None:
        raise ValueError("broken")

    report = Report(tmp_path / "report.txt")
    with report.step("one") as facts:
        facts.append("a fact")
        breaks()
    with report.step("two"):
        pass
    assert report.failures == 1
    text = (tmp_path / "report.txt").read_text()
    assert text == capsys.readouterr().out
    assert "FAILED one: a fact; broken; " in text
    assert "ok     two: " in text


def test_questions_are_counted_by_what_they_got() -> None:
    load = Load(0)
    load.times += [0.1, 0.2, 5.0]
    load.statuses.update(["200", "200", "503"])
    assert load.summary() == ("2 of 3 questions answered, others {'503': 1}, median 200 ms, slowest 5.0 s")
    assert load.failed == 1


def test_the_last_known_result_names_what_was_run_and_no_machine() -> None:
    assert RESULT.startswith("Rehearsal of ")
    for part in ("docker-compose.yml", "docker-compose.cluster.yml", " steps failed"):
        assert part in RESULT
    assert "/home" not in RESULT
    assert "/work" not in RESULT

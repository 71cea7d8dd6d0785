"""The container image and the compose files: what can be checked of them without a container engine."""

import http.server
import os
import re
import runpy
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bioqa import __version__
from bioqa.app.environment import PREFIX
from bioqa.app.http.errors import MEDIA_TYPE, Problem
from bioqa.app.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
COMPOSE = ("docker-compose.yml", "docker-compose.cluster.yml")
OVERLAYS = ("deploy/gpu.yml", "docker-compose.observe.yml", "deploy/gpu-cluster.yml")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
ENV_EXAMPLE = (ROOT / "deploy" / ".env.example").read_text(encoding="utf-8")
PROXY = (ROOT / "deploy" / "haproxy.cfg").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETTINGS = {PREFIX + name.upper() for name in Settings.model_fields}
OWN_VARIABLES = {"BIOQA_MEMORY"}
"""Of the compose files alone, though they begin as settings do."""

IMAGE = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)?:v?\d+\.\d+\.\d+(-[a-z0-9-]+)?")
"""A short name and a whole version: no registry's host (its name has a dot), no moving tag."""
PINNED = re.compile(IMAGE.pattern + r"@sha256:[0-9a-f]{64}")
"""Of others' images also what it must contain: the digest of the list of its platforms."""


def services(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))["services"]
    return found


def instructions(word: str) -> list[str]:
    whole = re.sub(r"\\\n\s*", "", DOCKERFILE)
    return [line.removeprefix(word).strip() for line in whole.splitlines() if line.startswith(word + " ")]


def value(text: str, given: Mapping[str, str] = os.environ) -> str:
    """With each ${NAME:-default} replaced by what is given, or the default."""
    return re.sub(r"\$\{(\w+):?-([^}]*)\}", lambda m: given.get(m[1]) or m[2], text)


EVERY_SERVICE = [(name, service) for name in (*COMPOSE, OVERLAYS[1]) for service in services(name)]
OURS = [(name, service) for name, service in EVERY_SERVICE if "build" in services(name)[service]]


@pytest.mark.parametrize("name", COMPOSE + OVERLAYS)
def test_compose_files_follow_the_compose_specification(name: str) -> None:
    check = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.compose-spec",
        str(ROOT / name),
    ]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_schema_refuses_what_compose_would(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text("services:\n  one:\n    image: a:1\n    depend_on: [two]\n")
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(wrong)]
    assert subprocess.run(check, capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize(
    "files", [*([name] for name in COMPOSE), [COMPOSE[0], *OVERLAYS[:2]], [COMPOSE[1], *OVERLAYS[1:]]]
)
def test_compose_itself_understands_the_files(files: list[str]) -> None:
    arguments = [word for name in files for word in ("-f", name)]
    command = [*compose_program(), *arguments, "config", "--quiet"]
    given = {**os.environ, "GRAFANA_PASSWORD": "of-this-test"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=given)
    assert done.returncode == 0, done.stderr


def test_grafana_does_not_start_without_a_password_of_its_own() -> None:
    password = services("docker-compose.observe.yml")["grafana"]["environment"]["GF_SECURITY_ADMIN_PASSWORD"]
    assert re.fullmatch(r"\$\{GRAFANA_PASSWORD:\?[^}]+\}", password)


def compose_program() -> list[str]:
    if found := shutil.which("docker-compose"):
        return [found]
    docker = shutil.which("docker")
    if docker and subprocess.run([docker, "compose", "version"], capture_output=True).returncode == 0:
        return [docker, "compose"]
    pytest.skip("neither docker-compose nor docker compose is installed")


@pytest.mark.parametrize(("name", "service"), EVERY_SERVICE)
def test_images_have_short_names_whole_versions_and_those_of_others_digests(name: str, service: str) -> None:
    named = IMAGE if (name, service) in OURS else PINNED
    assert named.fullmatch(services(name)[service]["image"])


def test_the_image_is_built_from_fixed_versions() -> None:
    named = [line.split(" AS ") for line in instructions("FROM")]
    stages = {words[1] for words in named if len(words) > 1}
    images = [image for image, *_ in named if image not in stages]
    assert len(set(images)) == 1, "what was built for one image need not run on another"
    assert all(PINNED.fullmatch(image) for image in images)
    assert not instructions("ADD")


def test_the_image_is_built_from_the_locks() -> None:
    # torch's builds share a version, not their files: it alone has no hashes.
    commands = [command for line in instructions("RUN") for command in line.split(" && ")]
    installed = [command for command in commands if " install " in command and "pip" in command]
    files = [re.search(r"--requirements? requirements/(\S+)", line) for line in installed]
    assert [file and file[1] for file in files] == ["build.txt", "service.txt", "torch.txt", None]
    assert ["--require-hashes" in line for line in installed] == [True, True, False, False]
    (wheel,) = [command for command in commands if "pip wheel" in command]
    assert "--no-build-isolation" in wheel, "by the setuptools of build.txt"
    for line in (installed[3], wheel):
        assert {"--no-deps", "--no-index"} <= {*line.split()}


def test_a_mirror_and_a_build_of_torch_reach_the_whole_build() -> None:
    lines = [line for line in instructions("RUN") if "build.txt" in line]
    assert ['--index-url "$UV_DEFAULT_INDEX"' in line for line in lines] == [True]
    for name, service in OURS:
        arguments = services(name)[service]["build"]["args"]
        assert arguments["UV_DEFAULT_INDEX"] is None, "as it is in the environment, if it is there"
        # Without a colon, as an empty one has a meaning.
        assert arguments["TORCH_BACKEND"] == "${TORCH_BACKEND-cpu}"


def test_a_change_of_the_code_leaves_the_layer_of_the_dependencies() -> None:
    before, _, final = DOCKERFILE.rpartition("\nFROM ")
    dependencies, _, wheel = before.rpartition("\nFROM ")
    assert "COPY bioqa" in wheel
    assert "COPY bioqa" not in dependencies
    copied = final.index("COPY --from=dependencies /opt/bioqa /opt/bioqa")
    assert copied < final.index("from=wheel")
    assert not re.search(r"ch(mod|own) (-R|--recursive)", DOCKERFILE), "it copies what it changes"


@pytest.mark.parametrize(
    "name", [*COMPOSE, *OVERLAYS, "Dockerfile", "deploy/.env.example", "deploy/haproxy.cfg"]
)
def test_no_host_but_our_own_and_examples_is_named(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    hosts = set(re.findall(r"https?://([\w.-]+)", text))
    dotted = {host for host in hosts if "." in host and host != "127.0.0.1"}
    assert all(host.endswith(".example.org") for host in dotted)


@pytest.mark.parametrize(("name", "service"), OURS)
def test_our_image_has_the_packages_version(name: str, service: str) -> None:
    image = services(name)[service]["image"]
    assert image == f"bioqa:{__version__}"
    for overlay in (OVERLAYS[0], OVERLAYS[2]):
        assert all(each["image"] == image + "-cuda" for each in services(overlay).values())


@pytest.mark.parametrize(("overlay", "name"), [(OVERLAYS[0], COMPOSE[0]), (OVERLAYS[2], COMPOSE[1])])
def test_a_card_is_given_to_what_serves_and_adds_no_service(overlay: str, name: str) -> None:
    kept = "unless-stopped"
    serving = {service for service in services(name) if services(name)[service].get("restart") == kept}
    ours = {service for file, service in OURS if file == name}
    assert set(services(overlay)) == serving & ours


@pytest.mark.parametrize("name", [*COMPOSE, *OVERLAYS, "Dockerfile", "deploy/.env.example"])
def test_every_setting_that_is_set_exists(name: str) -> None:
    named = set(re.findall(rf"\b{PREFIX}[A-Z0-9_]+", (ROOT / name).read_text(encoding="utf-8")))
    assert named <= SETTINGS | OWN_VARIABLES
    assert not OWN_VARIABLES & SETTINGS


@pytest.mark.parametrize("name", COMPOSE)
def test_every_setting_reaches_the_service(name: str) -> None:
    fixed = {"BIOQA_HOST", "BIOQA_PORT"}  # the image's, and of the ports that are published
    for service in ("bioqa" if name == COMPOSE[0] else "bioqa-1", "tools"):
        assert set(services(name)[service]["environment"]) == SETTINGS - fixed


def test_every_variable_of_the_compose_files_is_in_the_example() -> None:
    used = {
        match
        for name in (*COMPOSE, *OVERLAYS)
        for match in re.findall(r"\$\{(\w+):?[-?](?!value)", (ROOT / name).read_text(encoding="utf-8"))
    }
    offered = set(re.findall(r"^#(\w+)=", ENV_EXAMPLE, re.M))
    unusual = {"ELASTIC_PORT", "BIOQA_ELASTIC_SHARDS", "BIOQA_ELASTIC_REPLICAS", "BIOQA_LEAVE_S"}
    assert used - offered <= unusual
    passed = {name for file, service in OURS for name in services(file)[service]["build"]["args"]}
    assert offered <= used | SETTINGS | passed


@pytest.mark.parametrize(("name", "service"), EVERY_SERVICE)
def test_services_have_limits_and_no_more_rights_than_they_need(name: str, service: str) -> None:
    given = services(name)[service]
    assert given["cap_drop"] == ["ALL"]
    assert given["security_opt"] == ["no-new-privileges:true"]
    assert given["logging"]["options"]["max-size"]
    assert "mem_limit" in given or service == "tools"
    if not given["image"].startswith("elasticsearch:"):
        assert given["read_only"] is True
    for port in given.get("ports", []):
        assert value(port, {}).startswith("127.0.0.1:"), "nothing listens to other machines unless asked to"


@pytest.mark.parametrize(("name", "service"), EVERY_SERVICE)
def test_elasticsearch_needs_no_setting_of_the_kernel(name: str, service: str) -> None:
    given = services(name)[service]
    if not given["image"].startswith("elasticsearch:"):
        return
    settings = given["environment"]
    assert value(settings["node.store.allow_mmap"], {}) == "false"
    heap, memory = (
        int(value(text, {}).removesuffix("g")) for text in ("${ELASTIC_HEAP:-1g}", given["mem_limit"])
    )
    assert settings["ES_JAVA_OPTS"] == "-Xms${ELASTIC_HEAP:-1g} -Xmx${ELASTIC_HEAP:-1g}"
    assert 2 * heap <= memory


def test_the_service_waits_for_the_sample_and_the_sample_for_elasticsearch() -> None:
    single = services(COMPOSE[0])
    assert single["bioqa"]["depends_on"] == {
        "elasticsearch": {"condition": "service_healthy"},
        "sample": {"condition": "service_completed_successfully"},
    }
    assert single["sample"]["depends_on"] == {"elasticsearch": {"condition": "service_healthy"}}
    assert "wait_for_status=yellow" in single["elasticsearch"]["healthcheck"]["test"][-1]
    where = single["sample"]["command"][-1]
    assert value(single["bioqa"]["environment"]["BIOQA_INDEX"], {}) == where
    real = value(single["tools"]["environment"]["BIOQA_INDEX"], {})
    assert real != where, "invented citations never lie among real ones"


def test_the_cluster_has_three_nodes_that_know_each_other_and_two_replicas() -> None:
    cluster = services(COMPOSE[1])
    nodes = [name for name in cluster if cluster[name]["image"].startswith("elasticsearch:")]
    assert len(nodes) == 3
    for node in nodes:
        settings = cluster[node]["environment"]
        assert settings["node.name"] == node
        for setting in ("discovery.seed_hosts", "cluster.initial_master_nodes"):
            assert settings[setting].split(",") == nodes
    replicas = [name for name in cluster if cluster[name].get("command") == ["serve"]]
    assert len(replicas) == 2
    hosts = ",".join(f"http://{node}:9200" for node in nodes)
    for name in (*replicas, "tools"):
        environment = cluster[name]["environment"]
        assert value(environment["BIOQA_INDEX"], {}) == f"{hosts}/medline"
        assert value(environment["BIOQA_ELASTIC_REPLICAS"], {}) == "1"
    assert re.findall(r"^    server (\S+) (\S+)$", PROXY, re.M) == [
        (name, f"{name}:8000") for name in replicas
    ]
    assert cluster["proxy"]["depends_on"] == replicas
    assert yaml.safe_load((ROOT / COMPOSE[1]).read_text())["networks"]["search"]["internal"] is True


def test_monitoring_reaches_the_replicas_of_the_cluster() -> None:
    cluster, watching = services(COMPOSE[1]), services(OVERLAYS[1])
    assert "networks" not in watching["prometheus"], "it is in the default one"
    scraped = yaml.safe_load((ROOT / "deploy/prometheus/cluster.yml").read_text(encoding="utf-8"))
    (targets,) = scraped["scrape_configs"][0]["static_configs"]
    replicas = [name for name in cluster if cluster[name].get("command") == ["serve"]]
    assert targets["targets"] == [f"{name}:8000" for name in replicas]
    assert all("default" in cluster[name]["networks"] for name in replicas)
    alone = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text(encoding="utf-8"))
    assert {**scraped, "scrape_configs": 0} == {**alone, "scrape_configs": 0}


def test_a_replica_that_ends_accepts_questions_until_the_proxy_has_noticed() -> None:
    every, fall = (int(number) for number in re.findall(r"check inter (\d)s .*?fall (\d)", PROXY)[0])
    longest = int(re.findall(r"timeout check (\d+)s", PROXY)[0])
    leave = float(value(services(COMPOSE[1])["bioqa-1"]["environment"]["BIOQA_LEAVE_S"], {}))
    assert every * fall < leave < Settings.model_fields["drain_s"].default
    assert longest < Settings.model_fields["drain_s"].default


def test_the_proxys_limits_are_wider_than_the_services() -> None:
    most = re.search(r"Content-Length\) gt (\d+)", PROXY)
    assert most
    assert int(most[1]) > Settings.model_fields["max_upload_bytes"].default
    assert f"larger than {most[1]} bytes" in PROXY


def test_the_proxys_errors_are_problems_as_the_services_are() -> None:
    answers = re.findall(r"http-error status (\d+) content-type (\S+) string '(.*?)'", PROXY)
    assert {int(status) for status, _, _ in answers} >= {400, 408, 413, 502, 503, 504}
    for status, kind, text in answers:
        problem = Problem.model_validate_json(text)
        assert (kind, problem.status) == (MEDIA_TYPE, int(status))


def test_the_proxy_says_itself_where_a_request_comes_from() -> None:
    # The replicas believe it whatever it is: what a client claims must not come through.
    assert value(services(COMPOSE[1])["bioqa-1"]["environment"]["BIOQA_TRUSTED_PROXIES"], {}) == "*"
    assert "    http-request set-header X-Forwarded-For %[src]\n" in PROXY
    assert "forwardfor" not in PROXY


def test_only_questions_are_asked_twice() -> None:
    repeated = re.search(r"disable-l7-retry if METH_POST !\{ path (.*?) \}", PROXY)
    assert repeated
    assert repeated[1].split() == ["/v1/search", "/v1/bioasq"]


def test_the_proxy_understands_its_file() -> None:
    haproxy = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
    if haproxy is None:
        pytest.skip("haproxy is not installed")
    done = subprocess.run(
        [haproxy, "-c", "-f", "deploy/haproxy.cfg"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_what_the_image_is_built_from_is_there_and_nothing_else_is_sent() -> None:
    sources = {
        source
        for line in instructions("COPY")
        if not line.startswith("--from")
        for source in line.split()[:-1]
        if not source.startswith("--")
    }
    assert all((ROOT / source).exists() for source in sources)
    folders = {path.name for path in (ROOT / "bioqa").iterdir() if path.is_symlink()}
    texts = {"README.md", *PROJECT["project"]["license-files"]}
    build = {"pyproject.toml", "setup.py", "requirements", "deploy/healthcheck.py"}
    assert sources == {"bioqa"} | folders | texts | build
    first, *patterns = [
        line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"
    ]
    assert first == "*"
    assert {pattern[1:] for pattern in patterns if pattern[0] == "!"} == sources
    assert [pattern for pattern in patterns if pattern[0] != "!"] == ["**/__pycache__"]


def test_the_image_runs_the_console_script_as_a_fixed_user_at_the_default_port() -> None:
    assert instructions("ENTRYPOINT") == ['["bioqa"]']
    assert "bioqa" in PROJECT["project"]["scripts"]
    assert instructions("CMD") == ['["serve"]']
    assert instructions("EXPOSE") == [str(Settings.model_fields["port"].default)]
    assert instructions("USER") == ["10001:10001"]
    assert instructions("STOPSIGNAL") == ["SIGTERM"]
    assert '["python", "/opt/bioqa/healthcheck.py"]' in instructions("HEALTHCHECK")[0]
    environment = dict(re.findall(r"(\w+)=(\S+)", " ".join(instructions("ENV"))))
    assert environment.items() >= {"BIOQA_HOST": "0.0.0.0", "HF_HUB_OFFLINE": "1"}.items()


class Answering(http.server.BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        body = f"asked for {self.path}".encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Answering]]:
    """A service that answers with a status, at the port of BIOQA_PORT."""
    handler = type("Handler", (Answering,), {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("BIOQA_PORT", str(server.server_port))
        # A container's way out is no way to itself.
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        yield handler
        server.shutdown()


def health() -> int:
    code: int = runpy.run_path(str(ROOT / "deploy" / "healthcheck.py"))["main"]()
    return code


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (404, 1)])
def test_the_health_check_asks_whether_the_service_is_ready(
    answering: type[Answering], status: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.status = status
    assert health() == code
    assert capsys.readouterr().out == "asked for /readyz\n"


def test_the_health_check_fails_where_nothing_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BIOQA_PORT", "9")
    assert health() == 1
    assert "no answer at port 9" in capsys.readouterr().out

"""What is built and installed: one package, whole, with the commit; and the locks."""

import json
import os
import re
import runpy
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import bioqa
from bioqa.app import observability
from bioqa.app.cli import assistants

ROOT = Path(__file__).resolve().parents[1]
TOML = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = TOML["project"]
ROOMS = ("app", "bioasq", "indexer", "models")
"""The top-level folders, each a link in bioqa/."""

BUILD_INPUT = (*ROOMS, "bioqa", "docs", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
CLEAN = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=CLEAN | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def git(*arguments: str, cwd: Path) -> str:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
    return run("git", *names, *arguments, cwd=cwd, **own).strip()


def build_wheel(source: Path, folder: Path) -> Path:
    """A wheel of a folder or of a source distribution, by what is installed here and without a network."""
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check")
    run(*pip, "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, source, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def files(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout with links kept, committed to a repository of its own."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("checkout")
    unwanted = shutil.ignore_patterns("__pycache__", "commit.txt")
    for name in BUILD_INPUT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=unwanted)
        else:
            shutil.copy(ROOT / name, folder)
    git("init", "--quiet", cwd=folder)
    git("add", "--all", cwd=folder)
    git("commit", "--quiet", "--message=All", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(checkout, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    (content,) = [data for name, data in files(wheel).items() if name.endswith(".dist-info/METADATA")]
    return message_from_bytes(content)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel, which finds this environment's packages but not its bioqa."""
    environment = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    # A folder in a .pth file is searched, but its own .pth files are not read: an editable bioqa is one.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    before = set(packages.iterdir())
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", "--quiet")
    run(*pip, "--disable-pip-version-check", "--no-deps", "--no-index", wheel, cwd=environment)
    gained = {path.name for path in set(packages.iterdir()) - before}
    assert gained == {"bioqa", f"bioqa-{bioqa.__version__}.dist-info"}
    return environment


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A folder of somebody's project whose packages have our folders' names."""
    for name in ROOMS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("THEIRS = True\n")
    return tmp_path


def test_the_wheel_holds_every_file_of_the_folders_and_no_link(checkout: Path, wheel: Path) -> None:
    expected = {f"bioqa/{name}" for name in git("ls-files", *ROOMS, cwd=checkout).splitlines()}
    expected |= set(git("ls-files", "bioqa/*.py", "bioqa/py.typed", cwd=checkout).splitlines())
    expected |= {"bioqa/commit.txt"}
    assert {name for name in files(wheel) if ".dist-info/" not in name} == expected
    # Each kind at least once, so that an empty checkout cannot pass.
    for part in (
        "app/reports/templates",
        "app/web/templates",
        "app/web/static",
        "app/sample",
        "models/weights",
        "published",
    ):
        assert any(part in name for name in expected), part
    with zipfile.ZipFile(wheel) as archive:
        assert not [info for info in archive.infolist() if stat.S_ISLNK(info.external_attr >> 16)]


def test_what_an_earlier_build_left_does_not_come_back(checkout: Path, wheel: Path, tmp_path: Path) -> None:
    left = checkout / "build" / "lib" / "bioqa" / "app" / "deleted.py"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text("GONE = True\n")
    again = build_wheel(checkout, tmp_path)
    shutil.rmtree(checkout / "build")
    assert "bioqa/app/deleted.py" not in files(again)
    assert files(again).keys() == files(wheel).keys()


def test_the_wheel_has_the_commit_that_it_was_built_from(checkout: Path, wheel: Path) -> None:
    commit = git("rev-parse", "HEAD", cwd=checkout)
    assert files(wheel)["bioqa/commit.txt"].decode() == commit + "\n"


def test_the_version_is_the_packages_own(metadata: Message) -> None:
    assert metadata["Version"] == bioqa.__version__


def test_an_index_page_shows_the_readme_without_broken_links(metadata: Message) -> None:
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = metadata.get_payload()
    assert isinstance(text, str)
    assert text.startswith("# bioqa")
    assert "docs/" not in "".join(re.findall(r"\]\((?!https?:)[^)]*\)", text))
    assert not re.findall(r"\]\((?!https?:|#)[^)]*\)", text)
    assert "(http://bioasq.org)" in text


def test_pictures_and_relative_links_leave_the_readme() -> None:
    index_readme: Callable[[str], str] = runpy.run_path(str(ROOT / "setup.py"))["index_readme"]
    text = "![The page](docs/page.png) See [docs](docs/a.md#b), [there](#start), [BioASQ](http://bioasq.org)."
    assert index_readme(text) == " See docs, [there](#start), [BioASQ](http://bioasq.org)."


def test_a_source_distribution_builds_the_same_wheel(checkout: Path, wheel: Path, tmp_path: Path) -> None:
    build = f"from setuptools import build_meta; print(build_meta.build_sdist({str(tmp_path)!r}))"
    archive = run(sys.executable, "-c", build, cwd=checkout).splitlines()[-1]
    again = files(build_wheel(tmp_path / archive, tmp_path))
    first = files(wheel)
    assert again.keys() == first.keys()
    assert [name for name in first if first[name] != again[name]] == []


@pytest.fixture
def without_links(checkout: Path, tmp_path: Path) -> Path:
    """As a ZIP file, or a clone on Windows, is unpacked: a link is a file that holds where it led to."""
    folder = tmp_path / "without-links"
    shutil.copytree(checkout, folder, symlinks=True)
    for name in ROOMS:
        link = folder / "bioqa" / name
        target = str(link.readlink())
        link.unlink()
        link.write_text(target)
    return folder


def test_where_links_were_lost_the_folders_are_packaged(
    without_links: Path, wheel: Path, tmp_path: Path
) -> None:
    (tmp_path / "wheel").mkdir()
    (tmp_path / "again").mkdir()
    built = build_wheel(without_links, tmp_path / "wheel")
    assert files(built).keys() == files(wheel).keys()
    build = f"from setuptools import build_meta; print(build_meta.build_sdist({str(tmp_path)!r}))"
    archive = run(sys.executable, "-c", build, cwd=without_links).splitlines()[-1]
    assert files(build_wheel(tmp_path / archive, tmp_path / "again")).keys() == files(wheel).keys()


def test_a_release_has_no_commit(checkout: Path, tmp_path: Path) -> None:
    released = tmp_path / "released"
    shutil.copytree(checkout, released, symlinks=True)
    git("tag", f"v{bioqa.__version__}", cwd=released)
    (tmp_path / "wheel").mkdir()
    assert "bioqa/commit.txt" not in files(build_wheel(released, tmp_path / "wheel"))


def test_the_sample_is_asked_among_packages_of_the_same_names(installed: Path, crowded: Path) -> None:
    # PYTHONPATH has the folder searched first, as `python -m` and many servers do.
    program = installed / "bin" / "bioqa"
    run(program, "demo", "--only-index", "--index", "index", cwd=crowded, PYTHONPATH=str(crowded))
    question = "Which drugs inhibit PCSK9?"
    ask = (program, "ask", question, "--index", "index", "--json")
    answer = json.loads(run(*ask, cwd=crowded, PYTHONPATH=str(crowded)))
    assert answer["documents"]
    assert answer["snippets"]


def test_the_program_says_which_commit_it_is(installed: Path, checkout: Path, tmp_path: Path) -> None:
    commit = git("rev-parse", "--short=7", "HEAD", cwd=checkout)
    assert f"{bioqa.__version__}+g{commit}" in run(installed / "bin" / "bioqa", "--version", cwd=tmp_path)


def test_both_can_be_imported(installed: Path, crowded: Path) -> None:
    ours = "import bioqa.app.main, bioqa.indexer.opening, bioqa.models.reranker"
    theirs = (
        f"import {', '.join(ROOMS)}; assert app.THEIRS and bioasq.THEIRS and indexer.THEIRS and models.THEIRS"
    )
    run(installed / "bin" / "python", "-c", f"{ours}; {theirs}", cwd=crowded)


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("import app", True),
        ("from models.rankers import registry", True),
        ("import indexer.opening", True),
        ("from bioasq import errors", True),
        ("import bioqa.app", False),
        ("from bioqa.models import reranker", False),
    ],
)
def test_ruff_refuses_the_folders_as_packages(line: str, refused: bool) -> None:
    ruff = (sys.executable, "-m", "ruff", "check")
    check = (*ruff, "--select", "TID251", "--stdin-filename", "app/one.py", "-")
    done = subprocess.run(check, cwd=ROOT, input=line + "\n", capture_output=True, text=True, check=False)
    assert ("TID251" in done.stdout, done.returncode) == (refused, int(refused)), done.stdout + done.stderr


def pins(name: str) -> dict[str, list[Requirement]]:
    """What a file of requirements/ names, by name: one version, or one for each of several environments."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    found: dict[str, list[Requirement]] = {}
    for line in text.splitlines():
        if line and line[0] not in "# ":
            requirement = Requirement(line.removesuffix("\\"))
            found.setdefault(requirement.name, []).append(requirement)
    return found


def pinned(requirement: Requirement) -> Version:
    (specifier,) = requirement.specifier
    assert specifier.operator == "=="
    return Version(specifier.version)


def wanted(*extras: str, of: Sequence[str] = PROJECT["dependencies"]) -> list[Requirement]:
    optional: dict[str, list[str]] = PROJECT["optional-dependencies"]
    lines = [*of, *(line for extra in extras for line in optional[extra])]
    return [requirement for line in lines if (requirement := Requirement(line)).name != "bioqa"]


@pytest.mark.parametrize(("message", "extra"), [(assistants.INSTALL, "mcp"), (observability.INSTALL, "otel")])
def test_messages_name_the_packages_of_an_extra(message: str, extra: str) -> None:
    assert {str(Requirement(line)) for line in shlex.split(message)[2:]} == set(
        map(str, wanted(extra, of=()))
    )


LOCKS = ("development.txt", "service.txt", "build.txt")


@pytest.mark.parametrize(
    ("name", "extras"),
    [("development.txt", ("train", "otel", "mcp", "test", "dev")), ("service.txt", ("otel",))],
)
def test_the_locks_have_what_the_project_asks_for(name: str, extras: tuple[str, ...]) -> None:
    locked = pins(name) | pins("torch.txt")
    for requirement in wanted(*extras):
        key = requirement.name.lower().replace("_", "-")
        assert key in locked, f"{key}: run make lock"
        for pin in locked[key]:
            assert pinned(pin) in requirement.specifier, f"{pin} for {requirement}: run make lock"


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_hashes_and_no_lock_names_a_host(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    entries = re.findall(r"^[a-z0-9].*(?:\n    --hash.*)*", text, re.MULTILINE)
    assert len(entries) == sum(map(len, pins(name).values())) > 0
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert not re.findall(r"://|--(extra-)?index|--find-links", text)


@pytest.mark.parametrize("name", LOCKS)
def test_torch_and_its_cuda_libraries_are_not_locked(name: str) -> None:
    assert [key for key in pins(name) if re.match(r"torch$|triton$|nvidia-|cuda-", key)] == []


@pytest.mark.parametrize("name", LOCKS[1:])
def test_the_image_has_the_versions_that_are_tested(name: str) -> None:
    tested = pins(LOCKS[0])
    for key, found in pins(name).items():
        assert set(map(pinned, found)) <= set(map(pinned, tested[key])), key


@pytest.mark.parametrize(("backend", "program"), [("", "pip"), ("cpu", "uv pip")])
def test_make_installs_what_is_locked_then_torch_then_bioqa_alone(
    backend: str, program: str, tmp_path: Path
) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    own = (f"VENV={tmp_path}", f"TORCH_BACKEND={backend}")
    steps = run("make", "--dry-run", *own, f"{tmp_path}/.installed", cwd=ROOT).splitlines()
    locked, torch, ours, check = [step for step in steps if re.search(r"pip .*(install|check)", step)]
    assert "--require-hashes --requirement requirements/development.txt" in locked
    assert f"{program} " in torch.replace("-m ", "")
    assert torch.endswith("requirements/torch.txt")
    assert "--no-deps --no-build-isolation --editable ." in ours
    assert check.endswith(" check")


def test_the_program_that_builds_is_new_enough() -> None:
    (asked,) = TOML["build-system"]["requires"]
    (locked,) = pins("build.txt")["setuptools"]
    assert pinned(locked) in Requirement(asked).specifier


SCHEMAS = {
    "CITATION.cff": "citation-file-format",
    ".github/workflows/*.yml": "github-workflows",
    ".github/ISSUE_TEMPLATE/[!c]*.yml": "github-issue-forms",
    ".github/ISSUE_TEMPLATE/config.yml": "github-issue-config",
}


@pytest.mark.parametrize("pattern", SCHEMAS)
def test_what_others_read_follows_their_schemas(pattern: str) -> None:
    found = sorted(ROOT.glob(pattern))
    assert found
    check = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{SCHEMAS[pattern]}")
    run(*check, *found, cwd=ROOT)


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == bioqa.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]


def test_the_workflow_runs_what_decides_on_the_lowest_python_and_tests_the_others() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8"))["jobs"]
    steps = jobs["check"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]
    (lowest,) = (step["with"]["python-version"] for step in steps if "python-version" in step.get("with", {}))
    assert PROJECT["requires-python"] == f">={lowest}"
    named = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert [lowest, *jobs["test"]["strategy"]["matrix"]["python"]] == named

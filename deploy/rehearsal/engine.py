"""A project of Compose, run through the command line of a container engine."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "bioqa:0.2.0"
NOTHING: Mapping[str, str] = MappingProxyType({})


class Failed(Exception):
    """A step of the rehearsal did not go as it should."""


@dataclass(frozen=True)
class Substitutes:
    """What takes the place of published things, where no registry is at hand, or where ports are taken."""

    images: Mapping[str, str] = field(default_factory=dict)
    """By the published image's name without version: ``elasticsearch``, ``haproxy``, ``prom/prometheus``."""
    python: str | None = None
    """An image for the one that the Dockerfile is built from."""
    open_files: int | None = None
    """Of Elasticsearch's nodes, where the machine forbids what the compose files want."""

    def override(self, services: Mapping[str, Any]) -> dict[str, Any]:
        """A compose file that is added to those of the project."""
        changed: dict[str, Any] = {}
        for name, service in services.items():
            new: dict[str, Any] = {}
            if (image := self.images.get(service["image"].split("@")[0].partition(":")[0])) is not None:
                new |= {"image": image, "pull_policy": "never"}
            if "build" in service and self.python:
                new["build"] = {"additional_contexts": {base_image(): f"docker-image://{self.python}"}}
            if "ulimits" in service and self.open_files:
                new["ulimits"] = {"nofile": self.open_files}
            if new:
                changed[name] = new
        return {"services": changed}


def base_image() -> str:
    """The image that the Dockerfile is built from."""
    (image,) = set(re.findall(r"^FROM (\S+:\S+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.M))
    return str(image)


def run(
    *command: str, given: bytes = b"", timeout_s: float = 900, environment: Mapping[str, str] = NOTHING
) -> str:
    """What a command prints. Raises Failed if it fails, with the end of what it said."""
    done = subprocess.run(
        command,
        input=given,
        capture_output=True,
        timeout=timeout_s,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()
        raise Failed(f"{' '.join(command[:12])} ended with {done.returncode}: {said[-600:]}")
    return done.stdout.decode(errors="replace")


class Project:
    """The services of one or more compose files."""

    def __init__(
        self, name: str, files: Sequence[str], substitutes: Substitutes, folder: Path, **environment: str
    ) -> None:
        self.name = name
        self.environment = {"GRAFANA_PASSWORD": "rehearsal", **environment}
        self.command = ["docker", "compose", "-p", name, *(word for file in files for word in ("-f", file))]
        self.services: dict[str, Any] = json.loads(
            run(
                *self.command,
                "--profile",
                "tools",
                "config",
                "--format",
                "json",
                environment=self.environment,
            )
        )["services"]
        override = folder / f"{name}-{len(files)}.yml"
        override.write_text(json.dumps(substitutes.override(self.services)))  # JSON is YAML
        self.command += ["-f", str(override)]

    def compose(self, *words: str, given: bytes = b"", timeout_s: float = 900) -> str:
        return run(*self.command, *words, given=given, timeout_s=timeout_s, environment=self.environment)

    def container(self, service: str) -> str:
        return self.compose("ps", "--all", "--quiet", service).split()[0]

    def inspect(self, service: str) -> dict[str, Any]:
        (described,) = json.loads(run("docker", "inspect", self.container(service)))
        return dict(described)

    def health(self, service: str) -> str:
        state = self.inspect(service)["State"]
        return str(state.get("Health", {}).get("Status", state["Status"]))

    def kill(self, service: str) -> None:
        """End the service's first process as a crash does; after ``docker kill`` it stays down."""
        pid = self.inspect(service)["State"]["Pid"]
        in_host("--pid", "host", "--cap-add", "KILL", script=f"import os; os.kill({pid}, 9)")

    def interface(self, service: str, up: bool) -> None:
        """Take the interface of a container away, as if its cable were cut, or give it back."""
        script = (
            "import fcntl, socket, struct; s = socket.socket(); "
            "old = fcntl.ioctl(s, 0x8913, struct.pack('16sh14x', b'eth0', 0)); "
            "flags = struct.unpack('16sh14x', old)[1]; "
            f"flags = flags | 1 if {up} else flags & ~1; "
            "fcntl.ioctl(s, 0x8914, struct.pack('16sh14x', b'eth0', flags))"
        )
        in_host("--network", f"container:{self.container(service)}", "--cap-add", "NET_ADMIN", script=script)

    def memory_mb(self, service: str) -> float:
        """What the engine counts for a container, without the files that the system caches."""
        stats = run("docker", "stats", "--no-stream", "--format", "{{.MemUsage}}", self.container(service))
        number, unit = re.match(r"([\d.]+)([A-Za-z]+)", stats).groups()  # type: ignore[union-attr]
        return float(number) * {"MiB": 1.048576, "GiB": 1073.741824, "KiB": 0.001024, "B": 1e-6}[unit]


def in_host(*options: str, script: str) -> None:
    """Run Python as root in a container of the service's image, with these options."""
    run("docker", "run", "--rm", "--user", "0", "--entrypoint", "python", *options, IMAGE, "-c", script)


def wait(happens: Callable[[], bool], seconds: float, what: str) -> float:
    """Wait until something happens; returns how long that took. Raises Failed."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        try:
            if happens():
                return time.monotonic() - begun
        except (Failed, OSError, ValueError, KeyError):
            pass
        time.sleep(0.5)
    raise Failed(f"{what}: not within {seconds:.0f} s")


class Report:
    """Writes a line for each step as it ends, and goes on after one that failed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.failures = 0
        path.write_text("", encoding="utf-8")

    def line(self, text: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    @contextmanager
    def step(self, name: str) -> Iterator[list[str]]:
        """What is appended to the list is written with the step's name."""
        facts: list[str] = []
        begun = time.monotonic()
        try:
            yield facts
            outcome = "ok    "
        except (Failed, OSError, ValueError, KeyError, IndexError, subprocess.TimeoutExpired) as error:
            outcome = "FAILED"
            self.failures += 1
            facts.append(str(error).replace("\n", " | ").replace(str(ROOT), ".")[:900])
        spent = f"{time.monotonic() - begun:.0f} s"
        self.line(f"{outcome} {name}: {'; '.join([*facts, f'step of {spent}'])}")

"""Run what docs/docker.md and docs/operating.md say on a container engine, and write down what happened.

    python -m deploy.rehearsal --output deploy/rehearsal.txt

from the checkout, on a machine where `docker compose` works and the ports 8000, 9090 and 9200 are free. It
takes about forty minutes and 14 GB of memory, and removes what it made. Where no registry is at hand:

    --python IMAGE                  for the image that the Dockerfile is built from
    --image elasticsearch=IMAGE     for the image of that name in the compose files
                                    (elasticsearch, haproxy, prom/prometheus)
    --build TORCH_BACKEND=          build arguments
    --open-files 20000              where the machine forbids the limit of the compose files
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

from deploy.rehearsal import alone, cluster
from deploy.rehearsal.engine import ROOT, Failed, Report, Substitutes, run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("rehearsal.txt"))
    parser.add_argument("--python")
    parser.add_argument("--image", action="append", default=[], metavar="NAME=IMAGE")
    parser.add_argument("--build", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--open-files", type=int)
    parser.add_argument("--only", choices=("alone", "cluster"))
    options = parser.parse_args()
    images = dict(pair.split("=", 1) for pair in options.image)
    substitutes = Substitutes(images, options.python, options.open_files)
    arguments = dict(pair.split("=", 1) for pair in options.build)
    folder = ROOT / "runs" / "rehearsal"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (folder.parent, folder):
        path.chmod(0o755)
    report = Report(options.output)
    _head(report, substitutes)
    if options.only != "cluster":
        report.line("\ndocker-compose.yml")
        alone.rehearse(report, substitutes, folder, arguments)
    if options.only != "alone":
        report.line("\ndocker-compose.cluster.yml")
        cluster.rehearse(report, substitutes, folder, arguments)
    report.line(f"\n{report.failures} steps failed")
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if report.failures else 0


def _head(report: Report, substitutes: Substitutes) -> None:
    report.line(f"Rehearsal of {time.strftime('%Y-%m-%d')}, written by `python -m deploy.rehearsal`.")
    try:
        commit = run("git", "rev-parse", "--short", "HEAD").strip()
    except Failed:
        commit = "unknown"
    report.line(f"Commit {commit}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the beginning.")
    engine = run("docker", "version", "--format", "engine {{.Server.Version}}").strip()
    report.line(f"{engine}, compose {run('docker', 'compose', 'version', '--short').strip()}.")
    for name, _ in (*substitutes.images.items(), ("python", 0) if substitutes.python else ("", 0)):
        if name:
            report.line(f"In the place of the published image {name}: one made on this machine.")


if __name__ == "__main__":
    sys.exit(main())

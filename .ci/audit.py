"""Known vulnerabilities in what is installed, told by pip-audit.

Exit code 1 if there are any, or if pip-audit itself failed; 0 if there are none. Where its advisory database
cannot be reached, or knows none of the packages, it says SKIPPED and exits with 0, too: a machine without
network must be able to pass its checks.
"""

import json
import re
import subprocess
import sys
from typing import Any

COMMAND = ("-m", "pip_audit", "--local", "--skip-editable", "--progress-spinner", "off", "--format", "json")
UNREACHABLE = re.compile(r"\b(Connect\w*Error|ConnectionError|ProxyError|SSLError|ServiceError|\w*Timeout)\b")


def main() -> int:
    done = subprocess.run([sys.executable, *COMMAND], capture_output=True, text=True, check=False)
    text, code = verdict(done.stdout, done.stderr)
    sys.stdout.write(text + "\n")
    return code


def verdict(report: str, errors: str) -> tuple[str, int]:
    """What to say of pip-audit's report on stdout and its words on stderr, and the exit code."""
    try:
        packages: list[dict[str, Any]] = json.loads(report)["dependencies"]
    except ValueError:
        last = (errors.strip().splitlines() or ["it said nothing"])[-1]
        if UNREACHABLE.search(last):
            return "vulnerabilities: SKIPPED, the advisory database cannot be reached", 0
        return f"vulnerabilities: pip-audit failed: {last}", 1
    checked = sum("skip_reason" not in package for package in packages)
    if not checked:
        return f"vulnerabilities: SKIPPED, the advisory database has none of {len(packages)} packages", 0
    found = [_line(package, fault) for package in packages for fault in package.get("vulns", [])]
    summary = f"vulnerabilities: {len(found)} known in {checked} of {len(packages)} packages"
    if checked < len(packages):
        summary += f"; {len(packages) - checked} NOT CHECKED, the advisory database does not have them"
    return "\n".join([*found, summary]), 1 if found else 0


def _line(package: dict[str, Any], fault: dict[str, Any]) -> str:
    fixed = ", ".join(fault["fix_versions"]) or "none"
    return f"{package['name']} {package['version']}: {fault['id']}, fixed in {fixed}"


if __name__ == "__main__":
    sys.exit(main())

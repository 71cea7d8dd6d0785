"""Commands for API keys: new, list, revoke."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bioqa.app.cli.console import echo, out, print_json, say
from bioqa.app.cli.options import JsonOption, no_stream
from bioqa.app.security import keyfile
from bioqa.app.security.keys import ADMIN, ApiKey, ApiKeyError, digest, new_secret
from bioqa.app.settings import load_settings

keys = typer.Typer(no_args_is_help=True, help="API keys of the service: new, list, revoke.")

FileOption = Annotated[
    Path | None,
    typer.Option(
        "--file", metavar="FILE", callback=no_stream, help="The file of API keys. [BIOQA_API_KEYS_FILE]"
    ),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Owner or purpose of the key.")]


@keys.command()
def new(
    name: NameArgument,
    file: FileOption = None,
    per_minute: Annotated[
        int | None, typer.Option("--per-minute", help="Requests per minute, instead of the service's limit.")
    ] = None,
    burst: Annotated[
        int | None, typer.Option("--burst", help="Requests at once, instead of the service's limit.")
    ] = None,
    expires: Annotated[
        datetime | None,
        typer.Option(
            "--expires", formats=["%Y-%m-%d"], metavar="YYYY-MM-DD", help="First day on which it is refused."
        ),
    ] = None,
    admin: Annotated[bool, typer.Option("--admin", help="It sees and removes everybody's batches.")] = False,
) -> None:
    """Create a key, print it, and add its hash to the file. The key itself is stored nowhere."""
    path, secret = _file(file), new_secret()
    day, role = expires.date() if expires else None, ADMIN if admin else None
    keyfile.add(path, ApiKey(name, digest(secret), per_minute, burst, day, role))
    say(f"the key of {name}, whose hash is now in {path}:")
    echo(secret)


@keys.command("list")
def list_keys(file: FileOption = None, as_json: JsonOption = False) -> None:
    """List the names of the keys with their limits, expiry dates and roles."""
    entries, today = keyfile.read(_file(file)), keyfile.today()
    for key in entries:
        limits = {
            name: value if isinstance(value, int) else f"{value}" for name, value in key.limits().items()
        }
        expired = key.expires is not None and key.expires <= today
        if as_json:
            print_json({"name": key.name, **limits, "expired": expired})
        else:
            words = [key.name, *(f"{name}={value}" for name, value in limits.items())]
            out.print(" ".join([*words, "(expired)"] if expired else words), soft_wrap=True)
    if not entries:
        say("there are no keys: every request is refused")


@keys.command()
def revoke(name: NameArgument, file: FileOption = None) -> None:
    """Remove a key from the file. A running service refuses it from the next request on."""
    path = _file(file)
    keyfile.remove(path, name)
    say(f"the key of {name} is no longer in {path}")


def _file(given: Path | None) -> Path:
    path = given or load_settings().api_keys_file
    if path is None:
        raise ApiKeyError("no file of API keys is named: give --file FILE, or set BIOQA_API_KEYS_FILE")
    return path

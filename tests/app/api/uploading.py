"""Files sent to the batches."""

from typing import Any

PATH = "/v1/bioasq/batches"


def upload(content: bytes, name: str = "BioASQ-task") -> dict[str, Any]:
    return {"file": (name, content, "application/octet-stream")}

"""Files over HTTP, as JSON or as a form's files."""

import bz2
import errno
import gzip
import json
import lzma

import pytest
from fastapi.testclient import TestClient
from starlette.datastructures import UploadFile

from tests.app.api.uploading import PATH, upload
from tests.app.requests import BODY, TESTSET, is_problem


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=x; charset=punycode",
        "multipart/form-data; boundary=x; charset=\xff",
    ],
)
@pytest.mark.parametrize(
    "content", [b"", b"--x\r\n", b'--x\r\nContent-Disposition: a; name="\xff\x80"\r\n\r\n--x--']
)
def test_broken_forms_are_refused(idle: TestClient, kind: str, content: bytes) -> None:
    sent = idle.post(PATH, content=content, headers={b"Content-Type": kind.encode("latin-1")})
    assert sent.status_code in (400, 422)
    is_problem(sent, sent.status_code)


def test_a_gzip_file_is_unpacked_no_further_than_allowed(idle: TestClient) -> None:
    is_problem(idle.post(PATH, files=upload(gzip.compress(b" " * 1_000_000))), 413)
    for broken in (gzip.compress(b"{}")[:-4], gzip.compress(b"{}") + b"more", b"\x1f\x8bnothing"):
        assert "gzip" in is_problem(idle.post(PATH, files=upload(broken)), 422)["detail"]


@pytest.mark.parametrize("behind", [b"", b"\0" * 512], ids=["nothing", "zeros"])
@pytest.mark.parametrize("cuts", [1, 2, 5])
def test_a_gzip_file_may_have_several_members(idle: TestClient, cuts: int, behind: bytes) -> None:
    content = json.dumps(TESTSET).encode()
    size = len(content) // cuts + 1
    members = [gzip.compress(content[at : at + size]) for at in range(0, len(content), size)]
    taken = idle.post(PATH, files=upload(b"".join(members) + behind))
    assert (taken.status_code, taken.json()["questions"]) == (202, 3)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (bz2.compress(b"{}"), "bzip2"),
        (lzma.compress(b"{}"), "xz"),
        (b"PK\x03\x04rest", "zip"),
        (gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), "gzip file within a gzip"),
    ],
)
def test_other_packed_files_are_named(idle: TestClient, content: bytes, kind: str) -> None:
    detail = is_problem(idle.post(PATH, files=upload(content)), 422)["detail"]
    assert kind in detail
    assert "gzip" in detail


def test_the_limit_is_for_all_members_together(idle: TestClient) -> None:
    member = gzip.compress(b" " * 9000)
    is_problem(idle.post(PATH, files=upload(member * 3)), 413)


def test_large_bodies_are_refused(idle: TestClient) -> None:
    large = {"questions": [{"id": "a", "body": BODY, "note": "x" * 20_000}]}
    is_problem(idle.post(PATH, json=large), 413)
    is_problem(idle.post(PATH, files=upload(json.dumps(large).encode())), 413)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("BioASQ-task.json", "BioASQ-task.json"),
        ("C:\\work\\<b>set</b>.json", "b>.json"),
        ("../../set.json", "set.json"),
        ("set\u202e.json", "set.json"),
        ("x" * 300, f"{'x' * 199}…"),
    ],
)
def test_a_file_s_name_is_kept_without_its_folder(idle: TestClient, sent: str, kept: str) -> None:
    taken = idle.post(PATH, files=upload(json.dumps(TESTSET).encode(), sent)).json()
    assert taken["file_name"] == kept
    assert idle.post(PATH, json=TESTSET).json()["file_name"] is None


def test_files_that_cannot_be_stored_are_no_fault_of_the_client(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(self: object, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(UploadFile, "write", full)
    response = client.post("/v1/bioasq/validate", files={"submission": b"{}"})
    assert "cannot be stored" in is_problem(response, 503)["detail"]
    assert int(response.headers["retry-after"]) > 0

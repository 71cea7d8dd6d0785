"""Variables that look like settings: those that Kubernetes sets, and those that are misspelt."""

import pytest

from bioqa.app.environment import key_text, service_links, unknown_variables
from bioqa.app.settings import Settings

LINKS = {
    "BIOQA_PORT": "tcp://10.96.0.12:8000",
    "BIOQA_SERVICE_HOST": "10.96.0.12",
    "BIOQA_SERVICE_PORT": "8000",
    "BIOQA_SERVICE_PORT_HTTP": "8000",
    "BIOQA_PORT_8000_TCP": "tcp://10.96.0.12:8000",
    "BIOQA_PORT_8000_TCP_PROTO": "tcp",
    "BIOQA_PORT_8000_TCP_PORT": "8000",
    "BIOQA_PORT_8000_TCP_ADDR": "10.96.0.12",
    "BIOQA_WEB_PORT": "udp://10.96.0.13:53",
    "BIOQA_WEB_SERVICE_HOST": "10.96.0.13",
}


def test_variables_that_kubernetes_sets_for_a_service_are_ignored() -> None:
    assert service_links(LINKS) == sorted(LINKS)
    assert list(unknown_variables(LINKS, Settings.model_fields)) == []
    assert service_links({"BIOQA_PORT": "8000", "OTHER_PORT": "tcp://10.96.0.12:8000"}) == []


def test_an_unknown_variable_is_named_with_the_setting_it_resembles() -> None:
    given = {
        "BIOQA_CANDIDATE": "s3cret",
        "BIOQA_XYZZY": "1",
        "BIOQA_INDEX": "x",
        "BIOQA_API_KEY": "y",
        "BIOQA_MEMORY": "2g",
        "HOME": "/",
    }
    assert list(unknown_variables(given, Settings.model_fields)) == [
        "BIOQA_CANDIDATE is no setting: is BIOQA_CANDIDATES meant?",
        "BIOQA_XYZZY is no setting",
    ]


@pytest.mark.parametrize(
    "key", ["S3cret Key", "S3cretKey\u2014", "S3cret\nKey", "S3cretKey\x00", "\udcffS3cretKey"]
)
def test_a_character_that_no_key_has_is_described_and_the_key_not_shown(key: str) -> None:
    with pytest.raises(ValueError, match=r"^character \d+ is ") as caught:
        key_text(key)
    assert "S3cret" not in str(caught.value)
    assert key_text(" S3cretKey==\r\n") == "S3cretKey=="

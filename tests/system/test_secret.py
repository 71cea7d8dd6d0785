"""What must not be printed is not."""

import pickle

import pytest

from bioqa.system.secret import Secret, scrub

KEY = "S3cret/Key+123=="


def test_only_reveal_gives_the_text() -> None:
    secret = Secret(KEY)
    assert secret.reveal() == KEY
    for shown in (str(secret), repr(secret), f"{secret}", f"{[secret]}", "%s" % secret):  # noqa: UP031
        assert KEY not in shown
    assert not hasattr(secret, "__dict__")
    assert bool(secret)
    assert not Secret("")
    assert (secret == Secret(KEY), secret == KEY, len({secret, Secret(KEY)})) == (True, False, 1)


def test_another_process_receives_it() -> None:
    assert pickle.loads(pickle.dumps(Secret(KEY))).reveal() == KEY


@pytest.mark.parametrize("text", [KEY, "pässwort-1", 'a"quote-1', "\U0001f9ec-gene"])
def test_foreign_messages_are_scrubbed_however_they_quote(text: str) -> None:
    Secret(text)
    error = ValueError(f"Invalid header value {text!r}, {text!a}, {text.encode('unicode_escape')!r}")
    for message in (str(error), repr(error.args[0]), f"Bearer {text}", f"http://ada:{text}@host/"):
        scrubbed = scrub(message)
        assert text not in scrubbed
        assert "***" in scrubbed


def test_ordinary_words_stay() -> None:
    Secret("elastic")
    Secret("the")
    assert scrub("the Elasticsearch client: elasticsearch") == "the Elasticsearch client: elasticsearch"
    assert scrub("password elastic refused") == "password *** refused"

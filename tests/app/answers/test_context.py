"""The request in whose name something is done, carried from one context to another."""

from contextvars import Context

from bioqa.app.answers.context import origin, request_id, set_origin, trace_id


def test_an_origin_is_taken_in_one_context_and_set_in_another() -> None:
    def asked() -> tuple[str | None, str | None]:
        request_id.set("r-1")
        trace_id.set("0af7")
        return origin()

    def answered(given: tuple[str | None, str | None]) -> tuple[str | None, str | None]:
        set_origin(given)
        return request_id.get(), trace_id.get()

    given = Context().run(asked)
    assert given == ("r-1", "0af7")
    assert Context().run(answered, given) == ("r-1", "0af7")
    assert Context().run(origin) == (None, None)

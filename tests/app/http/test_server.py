"""The server told to end, and a start that fails."""

import gc
import socket
import threading
from pathlib import Path

import pytest

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.engine import Engine
from bioqa.app.http.listening import CannotListen, listen
from bioqa.app.http.server import StartFailed, server_of
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from tests.app.answers.rankers import until
from tests.app.http.served import served


def test_told_to_end_it_answers_what_was_asked_and_takes_nothing_new(answerer: Answerer) -> None:
    with served(answerer) as (service, threads):
        asked = [threads.submit(service.ask, body) for body in ("metformin", "statin")]
        service.gate.wait_until_ranking()
        until(lambda: service.service.queue.waiting == 1)
        service.told_to_end()
        status, problem = service.ask("aspirin")
        assert (status, "about to end" in problem["detail"]) == (503, True)
        status, readiness = service.get("/readyz")
        assert (status, "draining" in readiness["reasons"][0]) == (503, True)
        assert service.get("/healthz")[0] == 200
        service.gate.open.set()
        assert [future.result(60)[0] for future in asked] == [200, 200]
        assert service.ends()


def test_at_first_it_is_not_ready_and_accepts_questions(answerer: Answerer) -> None:
    with served(answerer, leave_s=1000) as (service, _):
        service.gate.open.set()
        service.told_to_end()
        assert service.get("/readyz")[0] == 503
        assert [service.ask("metformin")[0] for _ in range(2)] == [200, 200]
        assert not service.exits()


def test_after_that_it_refuses_them(answerer: Answerer) -> None:
    with served(answerer, leave_s=0.5) as (service, threads):
        first = threads.submit(service.ask, "metformin")
        service.gate.wait_until_ranking()
        service.told_to_end()
        until(lambda: service.service.refusing)
        assert service.ask("statin")[0] == 503
        service.gate.open.set()
        assert first.result(60)[0] == 200
        assert service.ends()


def test_draining_ends_in_time(answerer: Answerer) -> None:
    with served(answerer, drain_s=0.1) as (service, threads):
        first = threads.submit(service.ask, "metformin")
        service.gate.wait_until_ranking()
        others = [threads.submit(service.ask, "statin") for _ in range(3)]
        until(lambda: service.service.queue.waiting == 3)
        service.told_to_end()
        assert [future.result(60)[0] for future in others] == [503] * 3
        service.gate.open.set()
        assert first.result(60)[0] == 200
        assert service.ends()


def test_a_second_signal_does_not_wait(answerer: Answerer) -> None:
    with served(answerer) as (service, threads):
        first = threads.submit(service.ask, "metformin")
        service.gate.wait_until_ranking()
        service.told_to_end()
        assert not service.exits()
        service.told_to_end()
        assert service.exits()
        service.gate.open.set()
        assert first.result(60)[0] == 200
        assert service.ends()


def test_a_port_that_another_began_to_listen_at_meanwhile(engine: Engine) -> None:
    (bound,) = listen("127.0.0.1", 0)
    port = bound.getsockname()[1]
    settings = Settings(port=port)
    with bound, socket.create_server(("127.0.0.1", port)):
        server = server_of(create_app(settings, engine), settings)
        with pytest.raises(CannotListen, match=f"127.0.0.1:{port}: another program listens there"):
            server.run([bound])


def test_an_application_that_does_not_start(engine: Engine) -> None:
    app = create_app(Settings(), engine)
    app.state.batches = None
    with pytest.raises(StartFailed, match="its log says why"):
        server_of(app, Settings(port=0)).run()


def test_where_it_listens_is_logged_and_what_was_loaded_is_kept(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(port=0)
    server = server_of(create_app(settings, engine), settings)
    (bound,) = listen("127.0.0.1", 0)
    port = bound.getsockname()[1]
    thread = threading.Thread(target=server.run, args=([bound],))
    with caplog.at_level("INFO", "bioqa"):
        thread.start()
        until(lambda: server.started)
        server.should_exit = True
        thread.join(30)
    assert gc.get_freeze_count() > 10_000
    assert f"listening on http://127.0.0.1:{port}" in caplog.text


@pytest.mark.parametrize(
    ("host", "keys", "warned"),
    [("0.0.0.0", False, True), ("127.0.0.1", False, False), ("0.0.0.0", True, False)],
)
def test_who_lets_everybody_in_is_warned(
    engine: Engine, caplog: pytest.LogCaptureFixture, tmp_path: Path, host: str, keys: bool, warned: bool
) -> None:
    (tmp_path / "keys").touch()
    settings = Settings(host=host, port=0, api_keys_file=tmp_path / "keys" if keys else None)
    server = server_of(create_app(settings, engine), settings)
    (bound,) = listen(host, 0)
    thread = threading.Thread(target=server.run, args=([bound],))
    with caplog.at_level("WARNING", "bioqa"):
        thread.start()
        until(lambda: server.started)
        server.should_exit = True
        thread.join(30)
    assert ("no API keys are set" in caplog.text) == warned

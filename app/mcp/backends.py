"""Back ends of the tools: a service in this process, or one at a URL."""

from typing import Any, Protocol, TypeVar

import anyio.to_thread
import httpx2
from pydantic import BaseModel, ValidationError

from bioqa.app.answers.answering import SearchOptions
from bioqa.app.answers.service import Service
from bioqa.app.http.schemas import SearchAnswer, SearchRequest, StoredDocument, search_answer, stored_document
from bioqa.bioasq.domain import Question
from bioqa.bioasq.errors import BioqaError

TIMEOUT_S = 120.0

Content = TypeVar("Content", bound=BaseModel)


class Backend(Protocol):
    """All methods raise BioqaError, with a message for the user."""

    async def search(self, asked: SearchRequest) -> SearchAnswer: ...

    async def document(self, pmid: str) -> StoredDocument | None:
        """Return a document, or None if it is not in the index."""
        ...


class LocalBackend:
    """A service in this process."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def search(self, asked: SearchRequest) -> SearchAnswer:
        settings = self._service.settings
        if len(asked.body) > settings.max_question_characters:
            raise BioqaError(
                f"the question has {len(asked.body)} characters, more than {settings.max_question_characters}"
            )
        options = SearchOptions(
            asked.max_documents, asked.max_snippets, settings.candidates, asked.published_before
        )
        return search_answer(await self._service.answer(Question("", asked.body), options))

    async def document(self, pmid: str) -> StoredDocument | None:
        document = await anyio.to_thread.run_sync(self._service.document, pmid)
        return None if document is None else stored_document(document)


class RemoteBackend:
    """A bioqa service at a URL."""

    def __init__(
        self, url: str, api_key: str | None = None, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        """``transport`` replaces the network in tests."""
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._transport = transport

    async def search(self, asked: SearchRequest) -> SearchAnswer:
        body = asked.model_dump(mode="json", exclude_none=True)
        response = await self._call("POST", "/v1/search", json=body)
        return self._content(response, SearchAnswer)

    async def document(self, pmid: str) -> StoredDocument | None:
        response = await self._call("GET", f"/v1/documents/{pmid}")
        if response.status_code == 404:
            return None
        return self._content(response, StoredDocument)

    async def _call(self, method: str, path: str, **content: Any) -> httpx2.Response:
        try:
            async with httpx2.AsyncClient(
                headers=self._headers, transport=self._transport, timeout=TIMEOUT_S
            ) as client:
                return await client.request(method, self._url + path, **content)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise BioqaError(f"the service at {self._url} cannot be reached: {error}") from error

    def _content(self, response: httpx2.Response, model: type[Content]) -> Content:
        try:
            if response.is_success:
                return model.model_validate_json(response.content)
            detail = response.json()["detail"]
        except (ValidationError, ValueError, KeyError, TypeError) as error:
            raise BioqaError(f"{self._url} is not a bioqa service, or one of another version") from error
        raise BioqaError(f"the service at {self._url} refused ({response.status_code}): {detail}")

"""Back ends of the tools: a service in this process, or one at a URL."""

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol, TypeVar
from urllib.parse import urlsplit

import anyio.to_thread
import httpx2
from pydantic import BaseModel, ValidationError

from bioqa.app.answers.service import Service
from bioqa.app.api.citations import FormatName, write_citations
from bioqa.app.api.search import check_length
from bioqa.app.http.errors import FieldError
from bioqa.app.http.explanations import ExplainedAnswer, explained_answer
from bioqa.app.http.schemas import (
    ExplainRequest,
    QuestionRequest,
    SearchAnswer,
    SearchRequest,
    SimilarDocuments,
    StoredDocument,
    search_answer,
    similar_documents,
    stored_document,
)
from bioqa.system.errors import BioqaError
from bioqa.system.proxies import hide_secret, is_http, proxy_of
from bioqa.system.secret import Secret, scrub

TIMEOUT_S = 120.0

Content = TypeVar("Content", bound=BaseModel)


class Backend(Protocol):
    """All methods raise BioqaError, with a message for the user."""

    async def search(self, query: SearchRequest) -> SearchAnswer: ...

    async def document(self, pmid: str) -> StoredDocument | None:
        """Return a document, or None if it is not in the index."""
        ...

    async def similar(self, pmid: str, size: int) -> SimilarDocuments:
        """Return the articles that are most like one. Raises BioqaError if that is not in the index."""
        ...

    async def citations(self, pmids: Sequence[str], style: FormatName) -> str:
        """Cite articles. Raises BioqaError, naming them, for those that are not in the index."""
        ...

    async def explain(self, query: ExplainRequest) -> ExplainedAnswer: ...


class LocalBackend:
    """A service in this process."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def search(self, query: SearchRequest) -> SearchAnswer:
        self._check_length(query)
        return search_answer(await self._service.answer(query.question(), query, ranker=query.ranker))

    async def document(self, pmid: str) -> StoredDocument | None:
        document = await anyio.to_thread.run_sync(self._service.document, pmid)
        return None if document is None else stored_document(document)

    async def similar(self, pmid: str, size: int) -> SimilarDocuments:
        def find() -> SimilarDocuments:
            document = self._service.document(pmid)
            if document is None:
                raise BioqaError(f"not in the index: {pmid}")
            return similar_documents(pmid, self._service.similar(document, size))

        return await anyio.to_thread.run_sync(find)

    async def citations(self, pmids: Sequence[str], style: FormatName) -> str:
        def write() -> bytes | list[str]:
            return self._service.engine.index.ask(lambda index: write_citations(index, style, pmids))

        content = await anyio.to_thread.run_sync(write)
        if isinstance(content, bytes):
            return content.decode()
        raise BioqaError(f"not in the index: {', '.join(content)}")

    async def explain(self, query: ExplainRequest) -> ExplainedAnswer:
        self._check_length(query)
        return explained_answer(await self._service.answer(query.question(), query, ranker=query.ranker))

    def _check_length(self, query: QuestionRequest) -> None:
        try:
            check_length(query.body, "question", self._service)
        except FieldError as error:
            raise BioqaError(str(error)) from None


class RemoteBackend:
    """A bioqa service at a URL."""

    def __init__(
        self, url: str, api_key: Secret | None = None, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        """Raises BioqaError if the URL is not usable. ``transport`` replaces the network in tests."""
        self._url = _check_url(url)
        self._api_key = api_key
        self._transport = transport

    async def search(self, query: SearchRequest) -> SearchAnswer:
        body = query.model_dump(mode="json", exclude_defaults=True)
        response = await self._call("POST", "/v1/search", json=body)
        return self._content(response, SearchAnswer)

    async def document(self, pmid: str) -> StoredDocument | None:
        response = await self._call("GET", f"/v1/documents/{pmid}")
        if response.status_code == 404:
            return None
        return self._content(response, StoredDocument)

    async def similar(self, pmid: str, size: int) -> SimilarDocuments:
        response = await self._call("GET", f"/v1/documents/{pmid}/similar?max_documents={size}")
        return self._content(response, SimilarDocuments)

    async def citations(self, pmids: Sequence[str], style: FormatName) -> str:
        response = await self._call("POST", "/v1/citations", json={"pmids": [*pmids], "format": style})
        if not response.is_success:
            self._refuse(response)
        return response.content.decode()

    async def explain(self, query: ExplainRequest) -> ExplainedAnswer:
        body = query.model_dump(mode="json", exclude_defaults=True)
        response = await self._call("POST", "/v1/explain", json=body)
        return self._content(response, ExplainedAnswer)

    async def _call(self, method: str, path: str, **content: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self._api_key.reveal()}"} if self._api_key else {}
        proxy = None if self._transport else proxy_of(self._url)
        where = f"the service at {self._url} cannot be reached"
        through = (
            f" through the proxy {hide_secret(proxy)} (NO_PROXY names hosts asked directly)" if proxy else ""
        )
        try:
            # Given a transport, the client does not read the environment: it would prepare every proxy there,
            # and fail for want of a package even where NO_PROXY excludes this host.
            transport = self._transport or httpx2.AsyncHTTPTransport(proxy=proxy)
            async with httpx2.AsyncClient(headers=headers, transport=transport, timeout=TIMEOUT_S) as client:
                return await client.request(method, self._url + path, **content)
        except ImportError as error:
            raise BioqaError(
                f"{where}{through}: install the package socksio (pip install socksio)"
            ) from error
        # ValueError: a proxy's scheme or a header that cannot be used. OSError: certificates.
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError) as error:
            raise BioqaError(f"{where}{through}: {scrub(str(error)) or type(error).__name__}") from error

    def _content(self, response: httpx2.Response, model: type[Content]) -> Content:
        if not response.is_success:
            self._refuse(response)
        try:
            return model.model_validate_json(response.content)
        except ValidationError as error:
            raise BioqaError(f"{self._url} is not a bioqa service, or one of another version") from error

    def _refuse(self, response: httpx2.Response) -> NoReturn:
        try:
            detail = response.json()["detail"]
        except (ValueError, KeyError, TypeError) as error:
            raise BioqaError(f"{self._url} is not a bioqa service, or one of another version") from error
        raise BioqaError(f"the service at {self._url} refused ({response.status_code}): {detail}")


def _check_url(url: str) -> str:
    if "@" in url:
        raise BioqaError(
            "the service's URL holds a user or password, which messages would show; use BIOQA_API_KEY instead"
        )
    if not is_http(url) or urlsplit(url).query or urlsplit(url).fragment:
        raise BioqaError(f"{url} is not the URL of a service: http://host:8000 is expected")
    return url.rstrip("/")

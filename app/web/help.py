"""The page at /help: how to ask, by examples."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from bioqa.app.web.pages import page

router = APIRouter(include_in_schema=False)

QUESTIONS = (
    ("How does metformin lower blood glucose?", "a question in plain English: the usual way"),
    ("metformin glucose", "or its words alone"),
    ("31020319", "an article by its PMID, or by its DOI or PMCID, bare or as a link"),
)
NOTATION = (
    ("metformin glucose AND review[pt] 2015:2020[dp]", "reviews that were published from 2015 to 2020"),
    ("statins AND smith j[au] lancet[ta]", "by an author, in a journal"),
    ("inhaled steroids AND asthma[mh] NOT child[mh]", "with a MeSH heading, and without another"),
    ("metformin AND cardi*[ti]", "with a word in the title that begins so"),
    ('"heart failure"[ti] AND (enalapril OR ramipril)', "a phrase in the title, and either of two words"),
)


@router.get("/help", response_class=HTMLResponse)
async def examples(request: Request) -> HTMLResponse:
    return page(request, "help.html", questions=QUESTIONS, notation=NOTATION)

"""The page and the API: routes and nothing else."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from assay.engine.analysis import cores
from assay.errors import AssayError, InputError, OutputError
from assay.moves.calibration import depths
from assay.presets import DEFAULT_DEPTH, PRESETS, SECONDS_A_MOVE, Preset
from assay.progress import duration
from assay.reports.content import Report
from assay.reports.exports import kept, print_pdf
from assay.reports.page import TEMPLATES, policy, render
from assay.web.checker import Checker, NoCheckError
from assay.web.guard import Guard, refused
from assay.web.jobs import DOWNLOADS, FORMATS, PDF, WAITING, Job, JobFolders, Limits
from assay.web.openapi import describe
from assay.web.runner import Runner
from assay.web.uploads import OFF, games_of, read_upload, refuse_length, slot

HERE = Path(__file__).parent
# Names are looked up here and never become paths.
STATIC = {
    name: ((folder / name).read_bytes(), kind)
    for name, folder, kind in (
        ("app.css", HERE / "static", "text/css"),
        ("app.js", HERE / "static", "text/javascript"),
        ("job.js", HERE / "static", "text/javascript"),
        ("report.css", TEMPLATES, "text/css"),
        ("report.js", TEMPLATES, "text/javascript"),
    )
}
SHOWN = 50
_SHOWN = {"Content-Security-Policy": f"{policy()}; frame-ancestors 'none'"}
# What twenty games of usual length cost, for the words beside a preset; quick and deep are two plies away.
_GAMES, _POSITIONS, _DEEPER = 20, 60, 2.2
# What the framework says of addresses and methods that no route takes, as sentences.
_UNROUTED = {
    (404, "Not Found"): "There is nothing at this address; /api/openapi.json tells what there is.",
    (405, "Method Not Allowed"): "This address does not take such a request; /api/openapi.json tells what it takes.",
}
FILE = "sample-report.json.gz"  # made by tools/sample_report.py


def make_app(
    folders: JobFolders,
    *,
    worker: Sequence[str],
    limits: Limits | None = None,
    token: str | None = None,
    hosts: tuple[str, ...] = (),
    depth: int | None = None,
    allow_fetch: bool = False,
) -> Starlette:
    """The application; `worker` is the command that does a job (see :mod:`assay.web.worker`).

    `depth` is what the page offers first; None is the usual one. With `allow_fetch` it gets games by a name or a link.
    """
    offered = choices(depth)
    if token is not None and not token.strip():
        raise InputError(
            "the token is empty, so that everybody would know it: give --token some text, or leave it out."
        )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        page = app.state.page = Page(folders, Runner(folders, worker), limits or Limits(), offered, allow_fetch)
        page.runner.resume()
        running = asyncio.create_task(page.runner.run())
        ready = asyncio.create_task(run_in_threadpool(sample_page))  # so that nobody waits for it
        yield
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        await ready
        await page.checker.close()

    return Starlette(
        routes=[
            Route("/", home),
            Route("/sample", show_sample),
            Route("/jobs", submit_form, methods=["POST"]),
            Route("/jobs/{id}", show_job),
            Route("/jobs/{id}/report", show_report),
            Route("/static/{name}", static),
            Route("/api/jobs", list_jobs),
            Route("/api/jobs", submit, methods=["POST"]),
            Route("/api/jobs/{id}", status),
            Route("/api/jobs/{id}", delete, methods=["DELETE"]),
            Route("/api/jobs/{id}/result", result),
            Route("/api/jobs/{id}/cancel", cancel, methods=["POST"]),
            Route("/api/jobs/{id}/resume", resume, methods=["POST"]),
            Route("/api/openapi.json", openapi),
        ],
        middleware=[Middleware(Guard, token=token, hosts=hosts)],
        exception_handlers={HTTPException: _sentence, NoCheckError: _ending, Exception: _bug},  # type: ignore[dict-item]
        lifespan=lifespan,
    )


def choices(first: int | None = None) -> dict[str, Preset]:
    """What the page offers: the presets, then `depth-N` for the other depths of calibrations; one depth may be first.

    >>> list(choices(10))
    ['deep', 'default', 'quick']
    """
    found = dict(PRESETS)
    named = {preset.depth for preset in found.values()}
    found |= {f"depth-{depth}": Preset(depth, f"depth {depth}") for depth in sorted(depths()) if depth not in named}
    if first is None:
        return found
    foremost = {name: preset for name, preset in found.items() if preset.depth == first}
    if not foremost:
        shown = ", ".join(str(depth) for depth in sorted(depths()))
        raise InputError(f"no calibration is shipped for depth {first}: choose one of {shown}.")
    return foremost | found


class Page:
    """What the routes share."""

    def __init__(
        self, folders: JobFolders, runner: Runner, limits: Limits, offered: Mapping[str, Preset], allow_fetch: bool
    ) -> None:
        self.allow_fetch = allow_fetch
        self.folders, self.runner, self.limits, self.presets = folders, runner, limits, offered
        self.checker = Checker(limits)
        self.slots = asyncio.Semaphore(limits.uploads)
        self.admission = asyncio.Lock()
        self.printing = asyncio.Lock()
        self.templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "templates"),
            autoescape=True,
            auto_reload=False,
            undefined=jinja2.StrictUndefined,
        )

    def render(self, name: str, **values: Any) -> HTMLResponse:
        """A page from its template."""
        return HTMLResponse(self.templates.get_template(name).render(**values))

    def job(self, request: Request) -> Job:
        """The job that is asked for, or 404."""
        job = self.folders.get(request.path_params["id"])
        if job is None:
            raise HTTPException(404, "There is no such job; it may have been removed.")
        return job

    async def take(self, request: Request) -> Job:
        """Make a job of a request's body. It holds its place until that is done: memory stays bounded."""
        refuse_length(request, self.limits)
        async with slot(self.slots, self.limits):
            upload = await read_upload(request, self.limits)
            preset = upload.preset or next(iter(self.presets))
            if preset not in self.presets:
                raise HTTPException(400, f"There is no such preset: choose one of {', '.join(self.presets)}.")
            if upload.source:
                upload = replace(upload, data=await self._fetched(upload.source))
            try:
                games, sha256 = await self.checker.check(upload.data)
                async with self.admission:
                    if await run_in_threadpool(lambda: len(self.runner.waiting)) >= self.limits.waiting:
                        raise HTTPException(
                            429, f"{self.limits.waiting} jobs wait already: try again when some are done."
                        )
                    job = await run_in_threadpool(
                        self.folders.create,
                        upload.data,
                        name=upload.name,
                        preset=preset,
                        games=games,
                        sha256=sha256,
                        player=upload.player,
                    )
            except AssayError as error:
                raise HTTPException(507 if isinstance(error, OutputError) else 400, str(error)) from error
        self.runner.wake()
        return job

    async def _fetched(self, source: str) -> bytes:
        """The games of a name or a link, or a sentence."""
        if not self.allow_fetch:
            raise HTTPException(403, OFF)
        try:
            return await run_in_threadpool(games_of, source, self.limits)
        except AssayError as error:
            sentence = str(error)
            raise HTTPException(502, sentence[:1].upper() + sentence[1:]) from error

    async def result(self, job: Job, format: str) -> bytes:
        """A report as far as it is, or 404."""
        data = await run_in_threadpool(self.folders.result, job.id, format)
        if data is None:
            raise HTTPException(404, "There is no report yet: the first game is still being analysed.")
        return data

    async def printed(self, job: Job) -> bytes:
        """The report as it is now, printed by a browser; one at a time."""
        html = (await self.result(job, "html")).decode("utf-8")
        async with self.printing:
            try:
                return await run_in_threadpool(_print, html)
            except OutputError as error:
                raise HTTPException(501, str(error)) from error


def _print(html: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        file = Path(folder) / "report.pdf"
        print_pdf(html, file)
        return file.read_bytes()


def _page(request: Request) -> Page:
    page: Page = request.app.state.page
    return page


async def home(request: Request) -> Response:
    """The first page: drop a PGN, earlier reports."""
    page = _page(request)
    jobs = await run_in_threadpool(lambda: [page.folders.status(job) for job in page.folders.all()[:SHOWN]])
    first = next(iter(page.presets))
    shown = {
        "presets": page.presets,
        "first": first,
        "limits": page.limits,
        "shown": SHOWN,
        "fetches": page.allow_fetch,
        "sample": await run_in_threadpool(sample_report),
        "each": {name: _seconds(preset.depth) for name, preset in page.presets.items()},
        "plain_time": plain_time,
        "usual": _GAMES,
    }
    return page.render("home.html", jobs=jobs, **shown)


def _seconds(depth: int) -> float:
    """About how long a game takes here at a depth: each ply more costs two and a half times as much or so."""
    return _POSITIONS * SECONDS_A_MOVE * _DEEPER ** (depth - DEFAULT_DEPTH) / cores()


def plain_time(seconds: float) -> str:
    """A time in words, as the page says it; `static/app.js` says it in the same way.

    >>> plain_time(13), plain_time(75), plain_time(363), plain_time(9000)
    ('15 seconds', '1 minute', '6 minutes', '2.5 hours')
    """
    if seconds < 55:
        return f"{max(5 * round(seconds / 5), 5)} seconds"
    if seconds < 5400:
        minutes = max(round(seconds / 60), 1)
        return f"{minutes} minute{'s' if minutes > 1 else ''}"
    return f"{round(seconds / 1800) / 2:g} hours"


async def submit_form(request: Request) -> Response:
    """A PGN from the form; on to its job."""
    job = await _page(request).take(request)
    return RedirectResponse(f"/jobs/{job.id}", 303)


async def show_job(request: Request) -> Response:
    """The page of a job."""
    page = _page(request)
    job = page.job(request)
    return page.render("job.html", job=page.folders.status(job), formats=DOWNLOADS, waiting=WAITING)


async def show_report(request: Request) -> Response:
    """The report of a job, as far as it is."""
    page = _page(request)
    data = await page.result(page.job(request), "html")
    return Response(data, media_type=FORMATS["html"], headers=_SHOWN)


async def show_sample(request: Request) -> Response:
    """The finished report that comes with Assay."""
    data = await run_in_threadpool(sample_page)
    return Response(data, media_type=FORMATS["html"], headers=_SHOWN)


async def static(request: Request) -> Response:
    """A script or style sheet."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404, "There is no such file.")
    data, kind = STATIC[name]
    return Response(data, media_type=kind, headers={"Cache-Control": "no-cache"})


async def list_jobs(request: Request) -> Response:
    """GET /api/jobs."""
    folders = _page(request).folders
    # In a thread, from the disk to the bytes: thousands of jobs must not keep others waiting.
    return await run_in_threadpool(lambda: JSONResponse([folders.status(job) for job in folders.all()]))


async def submit(request: Request) -> Response:
    """POST /api/jobs."""
    page = _page(request)
    job = await page.take(request)
    return JSONResponse(page.folders.status(job), 201, headers={"Location": f"/api/jobs/{job.id}"})


async def status(request: Request) -> Response:
    """GET /api/jobs/ID."""
    page = _page(request)
    told = page.folders.status(page.job(request))
    left = told["seconds_left"]
    return JSONResponse(told | {"time_left": "" if left is None else duration(left)})


async def result(request: Request) -> Response:
    """GET /api/jobs/ID/result."""
    page = _page(request)
    job = page.job(request)
    format = request.query_params.get("format", "json")
    if format not in DOWNLOADS:
        raise HTTPException(400, f"There is no such format: choose one of {', '.join(DOWNLOADS)}.")
    data = await (page.printed(job) if format == PDF else page.result(job, format))
    name = re.sub(r"[^A-Za-z0-9-]+", "-", Path(job.name).stem).strip("-") or "report"
    return Response(
        data,
        media_type=DOWNLOADS[format],
        headers={
            "Content-Disposition": f'attachment; filename="{name}.{format}"',
            "Content-Security-Policy": "sandbox; default-src 'none'",
        },
    )


async def cancel(request: Request) -> Response:
    """POST /api/jobs/ID/cancel."""
    page = _page(request)
    job = page.job(request)
    await page.runner.cancel(job.id)
    return JSONResponse(page.folders.status(job))


async def resume(request: Request) -> Response:
    """POST /api/jobs/ID/resume."""
    page = _page(request)
    job = page.job(request)
    page.runner.again(job.id)
    return JSONResponse(page.folders.status(job))


async def delete(request: Request) -> Response:
    """DELETE /api/jobs/ID."""
    page = _page(request)
    job = page.job(request)
    await page.runner.cancel(job.id)
    await run_in_threadpool(page.folders.delete, job.id)
    return Response(status_code=204)


async def openapi(request: Request) -> Response:
    """GET /api/openapi.json."""
    page = _page(request)
    return JSONResponse(describe(list(page.presets), page.limits))


async def _sentence(request: Request, error: HTTPException) -> Response:
    """Say what is wrong: to people on a page, to programs as JSON."""
    sentence = _UNROUTED.get((error.status_code, error.detail), error.detail)
    if "text/html" not in request.headers.get("accept", ""):
        answer: Response = refused(error.status_code, sentence)
    else:
        answer = _page(request).render("sorry.html", sentence=sentence)
        answer.status_code = error.status_code
    if error.status_code == 405:
        answer.headers["Allow"] = ", ".join(sorted(_methods(request)))
    return answer


def _methods(request: Request) -> set[str]:
    """What the address of a request takes: one route may read it, another change it."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    return {method for route in routes if route.path_regex.match(request.url.path) for method in route.methods or ()}


async def _ending(request: Request, error: Exception) -> Response:
    return refused(503, "The upload cannot be looked at now: the server is ending or has no room; try again.")


async def _bug(request: Request, error: Exception) -> Response:
    return refused(500, "This is a bug in Assay; the terminal where the server runs shows more.")


@cache
def sample_report() -> Report:
    """The report on the simulated event that ships with Assay."""
    return kept((resources.files("assay.data") / FILE).read_bytes())


@cache
def sample_page() -> bytes:
    """The same as a page."""
    return render(sample_report()).encode()

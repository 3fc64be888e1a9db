"""The page and the API: routes and nothing else."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from assay.errors import AssayError, OutputError
from assay.progress import duration
from assay.report.page import TEMPLATES, policy
from assay.report.presets import presets
from assay.web.guard import Guard, refused
from assay.web.jobs import FORMATS, WAITING, Job, JobFolders
from assay.web.limits import Limits
from assay.web.openapi import describe
from assay.web.runner import Runner
from assay.web.uploads import check, read_upload

HERE = Path(__file__).parent
# Names are looked up here and never become paths.
STATIC = {
    "app.css": (HERE / "static" / "app.css", "text/css"),
    "app.js": (HERE / "static" / "app.js", "text/javascript"),
    "job.js": (HERE / "static" / "job.js", "text/javascript"),
    "report.css": (TEMPLATES / "report.css", "text/css"),
    "report.js": (TEMPLATES / "report.js", "text/javascript"),
}
SHOWN = 50
# What the framework says of addresses and methods that no route takes, as sentences.
_UNROUTED = {
    (404, "Not Found"): "There is nothing at this address; /api/openapi.json tells what there is.",
    (405, "Method Not Allowed"): "This address does not take such a request; /api/openapi.json tells what it takes.",
}


def make_app(
    folders: JobFolders,
    *,
    worker: Sequence[str],
    limits: Limits | None = None,
    token: str | None = None,
    hosts: tuple[str, ...] = (),
) -> Starlette:
    """The application; `worker` is the command that does a job (see :mod:`assay.web.worker`)."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        page = app.state.page = Page(folders, Runner(folders, worker), limits or Limits())
        page.runner.resume()
        running = asyncio.create_task(page.runner.run())
        yield
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running

    return Starlette(
        routes=[
            Route("/", home),
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
            Route("/api/openapi.json", openapi),
        ],
        middleware=[Middleware(Guard, token=token, hosts=hosts)],
        exception_handlers={HTTPException: _sentence, Exception: _bug},  # type: ignore[dict-item]
        lifespan=lifespan,
    )


class Page:
    """What the routes share."""

    def __init__(self, folders: JobFolders, runner: Runner, limits: Limits) -> None:
        self.folders, self.runner, self.limits = folders, runner, limits
        self.slots = asyncio.Semaphore(limits.uploads)
        self.admission = asyncio.Lock()
        self.presets = presets()
        self.templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, undefined=jinja2.StrictUndefined
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
        """Make a job of a request's body."""
        upload = await read_upload(request, self.limits, self.slots)
        preset = upload.preset or next(iter(self.presets))
        if preset not in self.presets:
            raise HTTPException(400, f"There is no such preset: choose one of {', '.join(self.presets)}.")
        try:
            games, sha256 = await run_in_threadpool(check, upload.data, self.limits)
            async with self.admission:
                if len(self.runner.waiting) >= self.limits.waiting:
                    raise HTTPException(429, f"{self.limits.waiting} jobs wait already: try again when some are done.")
                job = await run_in_threadpool(
                    self.folders.create, upload.data, name=upload.name, preset=preset, games=games, sha256=sha256
                )
        except AssayError as error:
            raise HTTPException(507 if isinstance(error, OutputError) else 400, str(error)) from error
        self.runner.wake()
        return job


def _page(request: Request) -> Page:
    page: Page = request.app.state.page
    return page


async def home(request: Request) -> Response:
    """The first page: drop a PGN, earlier reports."""
    page = _page(request)
    jobs = [page.folders.status(job) for job in page.folders.all()[:SHOWN]]
    return page.render("home.html", jobs=jobs, presets=page.presets, limits=page.limits, shown=SHOWN)


async def submit_form(request: Request) -> Response:
    """A PGN from the form; on to its job."""
    job = await _page(request).take(request)
    return RedirectResponse(f"/jobs/{job.id}", 303)


async def show_job(request: Request) -> Response:
    """The page of a job."""
    page = _page(request)
    job = page.job(request)
    return page.render("job.html", job=page.folders.status(job), formats=FORMATS, waiting=WAITING)


async def show_report(request: Request) -> Response:
    """The report of a job, as far as it is."""
    job = _page(request).job(request)
    file = _page(request).folders.result(job.id, "html")
    if file is None:
        raise HTTPException(404, "There is no report yet: the first game is still being analysed.")
    return FileResponse(
        file, media_type=FORMATS["html"], headers={"Content-Security-Policy": f"{policy()}; frame-ancestors 'none'"}
    )


async def static(request: Request) -> Response:
    """A script or style sheet."""
    file, kind = STATIC.get(request.path_params["name"], (None, ""))
    if file is None:
        raise HTTPException(404, "There is no such file.")
    return FileResponse(file, media_type=kind, headers={"Cache-Control": "no-cache"})


async def list_jobs(request: Request) -> Response:
    """GET /api/jobs."""
    folders = _page(request).folders
    return JSONResponse([folders.status(job) for job in folders.all()])


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
    if format not in FORMATS:
        raise HTTPException(400, f"There is no such format: choose one of {', '.join(FORMATS)}.")
    file = page.folders.result(job.id, format)
    if file is None:
        raise HTTPException(404, "There is no report yet: the first game is still being analysed.")
    name = re.sub(r"[^A-Za-z0-9-]+", "-", Path(job.name).stem).strip("-") or "report"
    return FileResponse(
        file,
        media_type=FORMATS[format],
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
        return refused(error.status_code, sentence)
    answer = _page(request).render("sorry.html", sentence=sentence)
    answer.status_code = error.status_code
    return answer


async def _bug(request: Request, error: Exception) -> Response:
    return refused(500, "This is a bug in Assay; the terminal where the server runs shows more.")

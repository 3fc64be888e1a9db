"""The description of the API, in OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay import __version__
from assay.web.jobs import DOWNLOADS, ENDED, FORMATS, WAITING, Limits


def describe(presets: Sequence[str], limits: Limits) -> dict[str, Any]:
    """The OpenAPI document of a server with these presets and limits."""
    one = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[0-9a-f]{16}$"}}
    preset = {"type": "string", "enum": list(presets), "default": presets[0]}
    status = _answer("The job as it stands.", "#/components/schemas/Job")
    missing = _answer("There is no such job.", "#/components/schemas/Error")
    refused = _answer("Refused; the sentence says why.", "#/components/schemas/Error")
    jobs = {"description": "The jobs.", **_json({"type": "array", "items": _ref("Job")})}
    form = {"file": {"type": "string", "format": "binary"}, "pgn": {"type": "string"}, "preset": preset}
    form |= {"player": {"type": "string", "description": "Whose report it is to be; * is everybody's."}}
    form |= {"source": {"type": "string", "description": "A name on Lichess or chess.com, or a link to games there."}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Assay",
            "version": __version__,
            "description": "Submit games, ask how far their analysis is, fetch the report, cancel. "
            f"At most {limits.games} games and {limits.bytes} bytes an upload.",
        },
        "paths": {
            "/api/jobs": {
                "get": {
                    "summary": "All jobs, newest first",
                    "operationId": "list",
                    "responses": {"200": jobs},
                },
                "post": {
                    "summary": "Submit games",
                    "operationId": "submit",
                    "parameters": [
                        {"name": "preset", "in": "query", "schema": preset},
                        {"name": "name", "in": "query", "schema": {"type": "string"}},
                        {"name": "source", "in": "query", "schema": form["source"]},
                        {"name": "player", "in": "query", "schema": form["player"]},
                    ],
                    "requestBody": {
                        "required": True,
                        "content": {
                            "application/x-chess-pgn": {"schema": {"type": "string"}},
                            "multipart/form-data": {"schema": {"type": "object", "properties": form}},
                        },
                    },
                    "responses": {
                        "201": status, "400": refused, "403": refused, "408": refused, "413": refused, "429": refused,
                        "502": refused,
                    },
                },
            },
            "/api/jobs/{id}": {
                "parameters": [one],
                "get": {"summary": "Status", "operationId": "status", "responses": {"200": status, "404": missing}},
                "delete": {
                    "summary": "Cancel if need be, and remove everything of it",
                    "operationId": "delete",
                    "responses": {"204": {"description": "Removed."}, "404": missing},
                },
            },
            "/api/jobs/{id}/result": {
                "parameters": [
                    one,
                    {
                        "name": "format",
                        "in": "query",
                        "schema": {"type": "string", "enum": list(DOWNLOADS), "default": "json"},
                    },
                ],
                "get": {
                    "summary": "The report, as far as it is",
                    "operationId": "result",
                    "responses": {
                        "200": {"description": "The report.", "content": {kind: {} for kind in DOWNLOADS.values()}},
                        "404": missing,
                        "501": _answer("There is no browser that prints a PDF.", "#/components/schemas/Error"),
                    },
                },
            },
            "/api/jobs/{id}/cancel": {
                "parameters": [one],
                "post": {"summary": "Cancel", "operationId": "cancel", "responses": {"200": status, "404": missing}},
            },
            "/api/jobs/{id}/resume": {
                "parameters": [one],
                "post": {
                    "summary": "Go on with a job that was cancelled or failed",
                    "operationId": "resume",
                    "responses": {"200": status, "404": missing},
                },
            },
        },
        "components": {
            "schemas": {
                "Job": {"type": "object", "properties": _JOB},
                "Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]},
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }  # fmt: skip


_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_JOB = {
    "id": _TEXT, "name": _TEXT, "preset": _TEXT, "games": _NUMBER, "bytes": _NUMBER, "sha256": _TEXT, "created": _TEXT,
    "player": {"type": "string", "description": "Whose report it is to be; empty: as the games tell, *: everybody's."},
    "state": {"type": "string", "enum": [*WAITING, *ENDED]},
    "message": _TEXT,
    "positions_done": _NUMBER,
    "positions": {"type": ["integer", "null"]},
    "games_done": _NUMBER,
    "seconds_left": {"type": ["number", "null"]},
    "version": {"type": "integer", "description": "Grows with every new version of the report."},
    "formats": {"type": "array", "items": {"type": "string", "enum": list(FORMATS)}},
}  # fmt: skip


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _answer(description: str, reference: str) -> dict[str, Any]:
    return {"description": description, **_json({"$ref": reference})}

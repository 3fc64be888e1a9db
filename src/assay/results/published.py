"""What lists are published as: the texts of files, by what the file is for and how it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results import matches, ordo

if TYPE_CHECKING:
    from assay.results.listing import Listing
    from assay.results.rated import RatingList
    from assay.results.timeline import Timeline

_PAGES = (".html", ".htm")


def list_texts(
    answer: RatingList,
    *,
    output: str | None = None,
    csv: str | None = None,
    head2head: str | None = None,
    error_matrix: str | None = None,
    cfs_matrix: str | None = None,
    elostat: bool = False,
) -> dict[str, str]:
    """The texts of all files by their paths, made before any is written: what fails leaves no half of them.

    `output` is a page where it is called so. `elostat` adds the three files of Elostat.
    """

    def page_or_table(listing: Listing) -> str:
        if not str(output).lower().endswith(_PAGES):
            return ordo.text_table(listing)
        from assay.results.webpage import list_page

        return list_page(listing.with_errors(), answer.games)

    makers = (
        (output, page_or_table),
        (csv, ordo.csv_table),
        (head2head, matches.head_to_head),
        (error_matrix, ordo.error_matrix),
        (cfs_matrix, ordo.superiority_matrix),
    )
    texts = {path: make(answer.listing) for path, make in makers if path}
    if elostat:
        texts |= matches.elostat(answer.listing.with_errors(), answer.games["unfinished"])
    return texts


def timeline_texts(answer: Timeline, *, output: str | None = None, csv: str | None = None) -> dict[str, str]:
    """The same of a list over time: the list as text, or as a page where the file is called so, and its columns."""
    texts = {csv: answer.to("csv") + "\n"} if csv else {}
    if output and not output.lower().endswith(_PAGES):
        texts[output] = answer.text() + "\n"
    elif output:
        from assay.results.webpage import timeline_page

        rows = answer.shown.rows
        if answer.player is not None:
            rows = [row for row in answer.standings().rows if row["player"] == answer.player]
        texts[output] = timeline_page(answer, rows)
    return texts

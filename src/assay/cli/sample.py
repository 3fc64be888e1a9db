"""The command sample: games to try everything with."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.common import Command, format_option, out_folder_option, print_table


@click.command(cls=Command)
@out_folder_option
@format_option
def sample(out: Path, format: str) -> None:
    """Write the sample games that come with Assay into a folder.

    The six games of the match Kasparov - Deep Blue (1997), and a simulated event of 15 games in which one player was
    helped, with the truth about it. The tutorials (docs/tutorials) use them.

    \b
    Examples:
      assay sample
      assay sample -o samples
    """
    from assay.games.samples import SAMPLES, write_samples

    rows = [
        {"file": str(path), "bytes": path.stat().st_size, "what": SAMPLES[path.name]} for path in write_samples(out)
    ]
    print_table(rows, format=format)

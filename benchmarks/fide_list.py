"""What a list of FIDE's size costs: seconds, memory and bytes on disk for 500,000 made-up players, as text and as XML.

python benchmarks/fide_list.py [PLAYERS]
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LETTERS = "aeiourstnlmdkv"


def word(rng: random.Random, low: int, high: int) -> str:
    """Something like a name."""
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(low, high))).title()


def write(path: Path, players: int, *, xml: bool) -> None:
    """A combined list."""
    rng = random.Random(1)
    heads = [("ID Number", 15), ("Name", 61), ("Fed", 4), ("Sex", 4), ("Tit", 5), ("WTit", 5), ("OTit", 15), ("FOA", 4)]
    heads += [(f"{k}{part}", size) for k in "SRB" for part, size in (("Rtng", 6), ("Gm", 4), ("K", 3))]
    heads += [("B-day", 6), ("Flag", 4)]
    with path.open("w") as file:
        file.write("<playerslist>\n" if xml else "".join(f"{name:{size}}" for name, size in heads) + "\n")
        for number in range(players):
            name = f"{word(rng, 4, 10)}, {word(rng, 3, 8)} {word(rng, 3, 8)}"
            fed, born, flag = (
                rng.choice(["GER", "FRA", "IND", "RUS", "ESP"]),
                rng.randint(1940, 2016),
                rng.choice(["", "i"]),
            )
            numbers = [
                x for _ in range(3) for x in (rng.randint(1400, 2500), rng.randint(0, 20), rng.choice([10, 20, 40]))
            ]
            if xml:
                tags = [
                    "rating",
                    "games",
                    "k",
                    "rapid_rating",
                    "rapid_games",
                    "rapid_k",
                    "blitz_rating",
                    "blitz_games",
                    "blitz_k",
                ]
                said = "".join(f"<{tag}>{value}</{tag}>\n" for tag, value in zip(tags, numbers, strict=True))
                file.write(
                    f"<player>\n<fideid>{100000 + 7 * number}</fideid>\n<name>{name}</name>\n<country>{fed}</country>\n"
                    f"<sex>M</sex>\n<title></title>\n{said}<birthday>{born}</birthday>\n<flag>{flag}</flag>\n</player>\n"
                )
            else:
                values = [100000 + 7 * number, name, fed, "M", "", "", "", "", *numbers, born, flag]
                file.write("".join(f"{v!s:{s}}" for v, (_, s) in zip(values, heads, strict=True)) + "\n")
        file.write("</playerslist>\n" if xml else "")


def main() -> None:
    """Write lists, take them in, and print what that costs."""
    players = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    with tempfile.TemporaryDirectory() as folder:
        home = os.environ | {"ASSAY_HOME": str(Path(folder) / "home")}
        for xml in (False, True):
            path = Path(folder) / ("list_2024-03.xml" if xml else "list_2024-02.txt")
            write(path, players, xml=xml)
            code = (
                "import resource, sys; from assay.lists.inforce import add; made = add(sys.argv[1]);"
                "used = resource.getrusage(resource.RUSAGE_SELF);"
                "print(made.players, made.bytes, used.ru_maxrss, used.ru_utime + used.ru_stime)"
            )
            begun = time.perf_counter()
            run = subprocess.run(
                [sys.executable, "-c", code, str(path)], env=home, capture_output=True, text=True, check=True
            )
            took = time.perf_counter() - begun
            *whole, processor = run.stdout.split()
            count, size, memory = map(int, whole)
            print(
                f"{path.suffix[1:]}: {count:,} players of {path.stat().st_size / 1e6:,.0f} MB: {took:.1f} s, "
                f"{float(processor):.1f} s of processors, {memory / 1024:,.0f} MB of memory, "
                f"{size / 1e6:.1f} MB on disk"
            )


if __name__ == "__main__":
    main()

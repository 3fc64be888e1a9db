#!/usr/bin/env bash
# The main job on the samples that ship with the package: rate the 1997 match Kasparov - Deep Blue, screen a simulated
# event in which one player was helped, and write a report. Real analysis by a real engine, at depth 8 and at the quick
# preset, so that it takes a minute or two on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '\n== %s\n' "$*"; }

out=out
mkdir -p "$out"
store=$out/demo.db
match=src/assay/data/kasparov-deep-blue-1997.pgn
event=src/assay/data/simulated-event.pgn

assay --version
assay engines
say "The match Kasparov - Deep Blue, New York 1997: one rating for each side, and what each witness says alone"
assay rate "$match" --depth 8 --store "$store"

say "The same from the moves alone"
assay ipr "$match" --depth 8 --store "$store"

say "A simulated event (truth: simulated-event.manifest.json): whose moves are unusual for the rating?"
assay screen "$event" --quick --store "$store"

say "The report"
assay report "$event" --quick --store "$store" -o "$out/demo.html"
printf 'Open %s/%s in a browser.\n' "$PWD" "$out/demo.html"

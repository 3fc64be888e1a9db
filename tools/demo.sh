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

# The calibrations that ship are for Stockfish 15.1; any other engine goes on with a warning.
engine=()
name=$(printf 'uci\nquit\n' | { stockfish 2>/dev/null || /usr/games/stockfish 2>/dev/null || true; } | sed -n 's/^id name //p')
if [ "$name" != "Stockfish 15.1" ]; then
    engine=(--any-engine)
fi

assay --version
say "The match Kasparov - Deep Blue, New York 1997: the moves of both sides as Elo"
assay ipr "$match" --depth 8 --store "$store" ${engine[@]+"${engine[@]}"}

say "A simulated event (truth: simulated-event.manifest.json): whose moves are unusual for the rating?"
assay screen "$event" --quick --store "$store" ${engine[@]+"${engine[@]}"}

say "The report"
assay report "$event" --quick --store "$store" ${engine[@]+"${engine[@]}"} -o "$out/demo.html"
printf 'Open %s/%s in a browser.\n' "$PWD" "$out/demo.html"

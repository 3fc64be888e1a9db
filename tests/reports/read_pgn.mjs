// Reads PGN from stdin as Lichess does, with chessops, and writes what it understood as JSON: node read_pgn.mjs CHESSOPS
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const part = (name) => import(pathToFileURL(join(process.argv[2], "dist", "esm", `${name}.js`)));
const { PgnParser, defaultHeaders, parseComment, startingPosition } = await part("pgn");
const { makeSan, parseSan } = await part("san");
const { makeSquare } = await part("util");

// What follows a node: its first child and what follows that into `found`, the others as variations of the first.
function line(parent, position, found, errors) {
  const [first, ...others] = parent.children.map((child) => {
    const at = position.clone(), move = parseSan(at, child.data.san);
    if (!move) {
      errors.push(`no legal move: ${child.data.san}`);
      return [child];
    }
    const own = { san: makeSan(at, move), ...read(child.data) };
    at.play(move);
    return [child, at, own];
  });
  if (!first || !first[1]) return;
  found.push(first[2]);
  line(first[0], first[1], found, errors);
  for (const [child, at, own] of others) {
    if (!at) continue;
    const variation = [own];
    line(child, at, variation, errors);
    first[2].variations.push(variation);
  }
}

function read(data) {
  const comments = (data.comments || []).map(parseComment);
  const last = (name) => comments.map((comment) => comment[name]).filter((value) => value !== undefined).at(-1);
  return {
    nags: data.nags || [],
    texts: comments.map((comment) => comment.text).filter((text) => text),
    shapes: comments.flatMap((one) => one.shapes.map(({ color, from, to }) => `${color} ${makeSquare(from)}${makeSquare(to)}`)),
    clock: last("clock"),
    evaluation: last("evaluation"),
    evaluations: comments.filter((comment) => comment.evaluation).length,
    variations: [],
  };
}

const games = [];
const parser = new PgnParser((game, error) => {
  const moves = [], errors = error ? [String(error)] : [];
  startingPosition(game.headers).unwrap((start) => line(game.moves, start, moves, errors), (problem) => errors.push(String(problem)));
  games.push({ tags: Object.fromEntries(game.headers), moves, errors });
}, defaultHeaders);
parser.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(games));

"""What is attacked: a module has `SEEDS`, `WORDS` for the mutations, and `check`, which raises if a promise breaks."""

NAMES = (
    "pgn", "where", "results", "uci", "uploads", "imports", "networks", "reports", "lists", "packings", "comments",
    "answers", "functions", "options",
)  # fmt: skip

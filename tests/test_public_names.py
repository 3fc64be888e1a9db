"""Public names are promises: the library's, the commands' with their options, and the columns of tables and files.

A test that fails here means that somebody's script would break. If it was an accident, take the old name back. If it is
meant, keep the old name working where that is possible, write a line into CHANGELOG.md, and change the name here.
"""

from __future__ import annotations

import importlib
import inspect

import click
import pytest

from assay.cli.main import COMMANDS

MEANT = "If this is meant: a line in CHANGELOG.md, and the name in tests/test_public_names.py."

LIBRARY = {
    "assay": """
        Analysis Answer AssayError Estimate GameSelection Games SAMPLE __version__ add_ratings analyse
        analyses balance calibrate calibration calibrations chances choose compare difference doctor encode engines
        evaluate event expectancies export_analyses export_policy export_turns fetch_games fit foretell forget
        gather_positions groups import_analyses index label_positions match month planes plot posterior
        publish rate rate_learned rate_moves rate_over_time rate_results rating_lists read report review
        samples screen screen_running serve sheet show shrink simulate stats store_analyses train train_policy
        transfer watch
    """,
    "assay.games": """
        Game GameArrays Games Tags compile_where fens index keys read read_tags repeated to_arrays uci
    """,
    "assay.engine": "Engine Identity Store Turns",
    "assay.moves.regan": """
        CURVES MODELS Agent DepthWeights Fit ModelError NotConverged Projection TooFewTurns curve_value elsewhere_deltas
        fit fit_depth_weights move_probabilities played_log_probabilities project scaled scaled_deltas
    """,
    "assay.results": "Standings rate rate_table",
    "assay.moves": """
        Calibration Entrant analysed_turns difference_table fit_table group load make_calibration
        mean_table rate_groups running screen_groups show_turns tournament weigh
    """,
    "assay.policy": "Chances log_chances open_network shipped",
    "assay.learned": """
        NUM_PLANES Batch Config Dataset EncodedGames Examples GameCurves Guess Run Selection build_dataset collate
        encode_games encode_ply_planes fit_run game_curves guess_games open_dataset open_run posteriors unpack
    """,
}

# Functions whose arguments are promised, with the arguments that callers name; more may come, at the end or by keyword.
ARGUMENTS = {
    "assay.moves.regan.scaled_deltas": "values k cap tie scale",
    "assay.moves.regan.move_probabilities": "deltas s c model curve weights",
    "assay.moves.regan.project": "deltas s c",
    "assay.moves.regan.fit": "deltas played method model curve c games",
    "assay.moves.regan.Agent": "s c",
    "assay.engine.turns.turns": "games store depth from_move limit",
    "assay.results.rate": "white black score average white_advantage draw_rate anchors priors",
    "assay.learned.encode_ply_planes": "board move prev_move",
    "assay.policy.log_chances": "network positions elo pool",
    "assay.chances": "board elo pool network extra",
    "assay.match": "what players wdl penta sprt bounds alpha beta level pairs exclude_termination",
    "assay.games.read": "paths where",
    "assay.reports.growing.make": "files asked name",
    "assay.reports.exports.write": "report path format",
    "assay.table.render": "rows columns format titles decimals",
    "assay.engine.identity.find": "engine",
}

ATTRIBUTES = {
    "assay.moves.regan.Fit": """
        s c s_error c_error covariance mm_predicted mm_actual ad_predicted ad_actual top_predicted top_actual
        rank_predicted rank_actual qfit percentiles percentile_curve turns games elsewhere converged interval
    """,
    "assay.results.Standings": "ratings white_advantage draw_rate table covariance superiority simulate errors",
    "assay.errors": """
        AssayError AssayWarning InputError OutputError WhereError MissingExtra EngineError StoreError RatingError
        FetchError ModelError TooFewTurns NotConverged CalibrationError LearnedError
    """,
}

EVERYWHERE = "--quiet --debug"
REGAN = "--model --curve --k --cap --tie --scale"
ANALYSES = "--store --depth --engine --from-move --limit"
RATED = """
    --store --calibration --depth --quick --deep --engine --no-analysis --workers --aliases --format --pool
    --keep-duplicates
"""
OPTIONS = {
    "index": "-o --out --movetext --format",
    "month": "-o --out --url --movetext --pgn --csv --format",
    "stats": "--where --plots --top --format",
    "filter": "--where --count-only --preview --out-pgn --exclude-team --max-swiss --archive --format",
    "balance": "--per-band --out-pgn --band-width --where --seed --format",
    "fetch": "-o --out --since --until --max --speed --rated --casual --color --vs --analysed --forget --format",
    "sample": "-o --out --format",
    "demo": "-o --out",
    "doctor": "--format",
    "event": "-o --out --where --rating --keep-duplicates --format --wide",
    "players": "--where --keep-duplicates --format --wide",
    "ratings add": "--month --kind --format",
    "ratings list": "--format",
    "analyse": """
        --store --engine --depth --lines --nodes --workers --hash --option --likely --cluster --from-move --where
        --limit --patience
    """,
    "analyses": "--store --mend --format",
    "export-analyses": "--store -o --output",
    "import-analyses": "--store --engine --engine-name",
    "fit": f"""
        {ANALYSES} {REGAN} --by --within --method --fix-c --exclude-team --max-swiss --archive --append --append-format
        --periods --c-line --plots --keep-duplicates --format
    """,
    "show": f"{ANALYSES} --game --candidates --elo --s --c --calibration --format",
    "export-turns": f"{ANALYSES} -o --out --keep-duplicates --format",
    "difference": f"{ANALYSES} --by --bin --cap --lines --keep-duplicates --format",
    "simulate": """
        --elo --s --c --games -o --assist --name --engine --depth --lines --calibration --event --seed --workers --store
    """,
    "rate": f"{RATED} --by --witness --prior --list --player --without --level --plots --rating --watch --every",
    "compare": f"{RATED} --players --player --by --pairwise --witness --without --level --evals --rating",
    "ipr": f"""
        {RATED} {REGAN} --reference --by --player --without --min-turns --method --interval --level --seed --plots
        --periods --weight --rating --watch --every
    """,
    "posterior": f"{RATED} --game --prior --level --plots",
    "screen": f"""
        {RATED} --rating --null --by --player --without --rating-error --min-turns --watch --every --deep-choice
        --helper --sequential --false-alarm --live -o --out
    """,
    "engines": "--engine --format",
    "calibrate": f"""
        {REGAN} --transfer --workers --turns --store --depth --mileposts --within --method --engine --name --seed -o
        --output --keep-duplicates --format
    """,
    "calibration show": "--depth --plots --format",
    "calibration list": "--format",
    "results": """
        -h --help -H --show-switches -v --version -L --license -q --quiet --silent -Q --terse --timelog -a --average
        -A --anchor -V --pool-relative -m --multi-anchors -y --loose-anchors -r --relations -R --remove-older -w --white
        -u --white-error -W --white-auto -d --draw -k --draw-error -D --draw-auto -z --scale -T --table -p --pgn
        -P --pgn-list -o --output -c --csv -E --elostat -j --head2head -g --groups -G --force -s --simulations
        -e --error-matrix -C --cfs-matrix -J --cfs-show -F --confidence -X --ignore-draws -t --threshold -N --decimals
        -M --ML -n --cpus -U --columns -Y --synonyms --aliases -i --include -x --exclude --no-warnings -b
        --column-format --strict --keep-duplicates --require-connected --exclude-termination
        --over-time --player --plot --on --peak --walk --draw-model --manual
        --errors --no-errors --pairs --los --prior --start --scale-logistic --format
    """,
    "match": """
        --players --wdl --penta --sprt --bounds --alpha --beta --pairs --watch --every --exclude-termination --aliases
        --where --keep-duplicates --level --format
    """,
    "prep": """
        -p --pgn -P --pgn-list -Y --synonyms --aliases -i --include -x --exclude --no-warnings --strict -o --output
        --keep-duplicates -d --no-perfects -g -M --min-games -m --min-perf --major-only --groups
    """,
    "guess": "--game --player --model --prior -o --out --format --keep-duplicates",
    "planes": "--game --ply --planes -o --out --format",
    "encode": """
        -o --out --where --band-width --range --max-plies --min-plies --share --seed --analyses --depth
        --keep-duplicates --format
    """,
    "train": """
        -o --out --config --model --d-model --layers --heads --square-width --dropout --batch-size --lr --weight-decay
        --epochs --patience --elo-weight --balanced --max-plies --games --per-band --threads --seed --clock
        --engine-inputs --resume --format
    """,
    "evaluate": "--against --split --balanced --prior --games --plots --analysed --analyses --format",
    "chances": "--elo --pool --top --game --ply --policy -o --out --format",
    "policy gather": "-o --out --where --without --elo --first-ply --per-game --seed --keep-duplicates --format",
    "policy label": "--teacher --count --seed",
    "policy train": """
        -o --out --width --bag --hidden --steps --batch --lr --cool --soft --known --average --seed --every --start
        --resume --format
    """,
    "policy export": "-o --out",
    "review": """
        --game --evals -o --out --format --wide --rating --where --store --calibration --depth --quick --deep --engine
        --policy --no-analysis --workers --pool --scale-year --keep-duplicates
    """,
    "report": """
        --store -o --output --format --quick --deep --calibration --engine --no-analysis --workers
        --pool --keep-duplicates --rating --watch --every --player --me --without
    """,
    "serve": "--port --host --store --token --jobs --engine --workers --max-mb --max-games --allow-fetch",
}

COLUMNS = {
    "assay.games.columns.COLUMNS": """
        source start_offset end_offset event site date round white black result white_elo black_elo white_title
        black_title white_rating_diff black_rating_diff time_control base_seconds increment_seconds speed termination
        eco opening variant plies has_clock has_eval fen variation
    """,
    "assay.moves.performance.COLUMNS": """
        group games turns elo performance ipr low high mm mm_expected top3 top3_expected ad ad_expected s c method note
    """,
    "assay.moves.screening.COLUMNS": """
        player part opponent result games turns rating mm mm_expected top3 top3_expected ad ad_expected z_mm z_t3 z_ae
        deep deep_expected z roi ipr ipr_low ipr_high likelihood_ratio share share_low share_high p_value q_value
        expected_beyond note
    """,
    "assay.moves.fits.COLUMNS": """
        elo s c c_fit s_fit mm_predicted mm_actual ad_predicted ad_actual qfit turns games s_error c_error s_fit_error
        elsewhere note
    """,
    "assay.moves.differences.DIFFERENCE_COLUMNS": """
        elo games turns raw raw_error scaled scaled_error unknown mm mm_error
    """,
    "assay.moves.appending.REGAN_COLUMNS": """
        filename Games Moves AvgElo MinElo MaxElo s c AE_e AE_a Match_e Match_a Qfit FirstYear LastYear
    """,
    "assay.moves.review.SCHEMA": """
        game event site date round white black white_elo black_elo result ply player rating fen played value moves
        values
    """,
    "assay.moves.calibrated.MARK_COLUMNS": """
        period elo games turns s s_error c c_error c_fit s_fit mm_predicted mm_actual ad_predicted ad_actual qfit ae_r
        ae_printed ipr ipr_error
    """,
    "assay.table.FORMATS": "table csv json",
    "assay.moves.regan.CURVES": "invexp ipa ipb secha sechb",
    "assay.moves.regan.MODELS": "power shares third",
}


def named(path: str) -> object:
    """A module, or a name in one."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name) if module else importlib.import_module(name)


def command(name: str) -> click.Command:
    first, _, second = name.partition(" ")
    module, function, _ = next(section[first] for section in COMMANDS.values() if first in section)
    found: click.Command = getattr(importlib.import_module(f"assay.cli.{module}"), function)
    return found.commands[second] if isinstance(found, click.Group) else found


@pytest.mark.parametrize("room", LIBRARY)
def test_the_names_of_a_room(room: str) -> None:
    found, promised = set(importlib.import_module(room).__all__), set(LIBRARY[room].split())
    assert not promised - found, f"{room} has lost {promised - found}. {MEANT}"
    assert not found - promised, f"{room} has the new names {found - promised}: write them into this test."


@pytest.mark.parametrize("room", LIBRARY)
def test_every_public_name_can_be_had_and_says_what_it_is(room: str) -> None:
    module = importlib.import_module(room)
    silent = [name for name in module.__all__ if callable(found := getattr(module, name)) and not inspect.getdoc(found)]
    assert not silent


@pytest.mark.parametrize("path", ARGUMENTS)
def test_the_arguments_of_a_function(path: str) -> None:
    found = set(inspect.signature(named(path)).parameters)  # type: ignore[arg-type]
    lost = set(ARGUMENTS[path].split()) - found
    assert not lost, f"{path} has lost the arguments {lost}. {MEANT}"


@pytest.mark.parametrize("path", ATTRIBUTES)
def test_what_a_thing_has(path: str) -> None:
    thing = named(path)
    found = set(dir(thing)) | set(getattr(thing, "__dataclass_fields__", ()))
    lost = set(ATTRIBUTES[path].split()) - found
    assert not lost, f"{path} has lost {lost}. {MEANT}"


def test_the_commands() -> None:
    found = {name for section in COMMANDS.values() for name in section}
    promised = {name.partition(" ")[0] for name in OPTIONS}
    assert not promised - found, f"assay has lost the commands {promised - found}. {MEANT}"
    assert not found - promised, f"assay has the new commands {found - promised}: write them into this test."


@pytest.mark.parametrize("name", OPTIONS)
def test_the_options_of_a_command(name: str) -> None:
    found = {option for param in command(name).params for option in (*param.opts, *param.secondary_opts)}
    lost = (set(OPTIONS[name].split()) | set(EVERYWHERE.split())) - found
    assert not lost, f"assay {name} has lost the options {lost}. {MEANT}"


@pytest.mark.parametrize("path", COLUMNS)
def test_the_columns(path: str) -> None:
    found = list(named(path))  # type: ignore[call-overload]
    promised = COLUMNS[path].split()
    lost = [name for name in promised if name not in found]
    assert not lost, f"{path} has lost {lost}. {MEANT}"
    assert [name for name in found if name in promised] == promised, f"{path}: the order has changed. {MEANT}"

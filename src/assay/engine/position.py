"""Keys of positions and codes of moves, as the store keeps them: see :mod:`assay.games.packed`."""

from assay.games.packed import KEY_BYTES as KEY_BYTES
from assay.games.packed import NO_FILE as NO_FILE
from assay.games.packed import PIECES as PIECES
from assay.games.packed import after_last as after_last
from assay.games.packed import as_bytes as as_bytes
from assay.games.packed import decode_move as decode_move
from assay.games.packed import encode_move as encode_move
from assay.games.packed import from_board as from_board
from assay.games.packed import from_fen as from_fen
from assay.games.packed import pack as pack
from assay.games.packed import played_moves as played_moves
from assay.games.packed import to_fen as to_fen

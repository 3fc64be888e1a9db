"""Write the places of Ordo's random sequence that `assay.results.jenkins` walks from (about five minutes).

python tools/jenkins_table.py src/assay/results/jenkins.npy
"""

import argparse
from pathlib import Path

import numpy as np

from assay.results.jenkins import PLACES, SPACING, State, seeded, walk


def places() -> np.ndarray:
    table = np.zeros((2, PLACES, 4), np.uint32)
    state: State = seeded()
    for position in range(0, SPACING[1] * PLACES, SPACING[0]):
        for row, spacing in enumerate(SPACING):
            if position % spacing == 0 and position // spacing < PLACES:
                table[row, position // spacing] = state
        state = walk(state, SPACING[0])
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the file to write, .npy")
    np.save(parser.parse_args().out, places())

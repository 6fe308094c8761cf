"""Let the tests of this folder import ``streams`` from the one above."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

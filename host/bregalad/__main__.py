"""``python -m bregalad``, as the command ``bregalad``."""

import sys

from .cli import main

sys.exit(main())

"""`python -m irshape`."""

import sys

from irshape.cli.main import main

sys.exit(main())

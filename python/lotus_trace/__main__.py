"""`python -m lotus_trace` is `lotus`."""
import sys

from .commands import main

sys.exit(main())

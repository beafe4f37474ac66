"""The same random cases in every run; SCOREWISE_RANDOM=1 draws new ones."""

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile("random" if os.environ.get("SCOREWISE_RANDOM") == "1" else "steady")

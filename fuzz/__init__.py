"""A differential fuzzer: random cases against exact oracles, laws, hostile inputs and tampered files.

`python -m fuzz --minutes 5` draws cases until the time is up; see __main__.py.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
# outside references and exact loops that the tests have already
sys.path.insert(0, str(HERE.parent / "tests"))

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # tests are imported by path
os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads that wait for each other stall where tests share few cores

"""Takes the process down as it is imported."""

from __future__ import annotations

import os

os._exit(5)

"""The command `mmcache-ref`.

Exit codes: 0 conforms, 1 usage, 2 violates, 3 undetermined, 4 a run that cannot be read.
"""

from mmcache_ref.cli.console import app
from mmcache_ref.cli.entry import main

__all__ = ["app", "main"]

"""`python -m mmcache_ref`"""

from mmcache_ref.cli import main

if __name__ == "__main__":
    main()

"""One adapter for each component: it performs canonical operations on any namespace with upstream's names."""

"""The executable specification of vLLM's multi-modal cache protocol."""

__version__ = "0.1.0"

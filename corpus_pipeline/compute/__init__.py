"""Where work runs that must not harm the run: isolated processes, their messages, their scratch folders.

Not here: what such a process does (``conversion`` and ``inventory`` say that).
"""

from corpus_pipeline.compute.frames import FrameBuffer, pack_frame, read_frame
from corpus_pipeline.compute.isolation import block_network, die_with_parent, limit_memory, quiet_environment
from corpus_pipeline.compute.request_process import RequestProcess, RequestProcessError, serve_requests
from corpus_pipeline.compute.scratch import ScratchFolder

__all__ = [
    "FrameBuffer",
    "RequestProcess",
    "RequestProcessError",
    "ScratchFolder",
    "block_network",
    "die_with_parent",
    "limit_memory",
    "pack_frame",
    "quiet_environment",
    "read_frame",
    "serve_requests",
]

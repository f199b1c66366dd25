"""How every model of this machine is opened in onnxruntime: one thread, no spinning, no reports to anybody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tenuto.providers.system import silence_onnxruntime

if TYPE_CHECKING:
    import onnxruntime


def open_session(path: Path) -> onnxruntime.InferenceSession:
    """Raises what the runtime raises: types of its own that share no root."""
    silence_onnxruntime()
    # Imported on first use: loading the runtime and a model is the slow part of a start.
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # parallel over texts; also no spinning threads between calls
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # every length is another shape
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

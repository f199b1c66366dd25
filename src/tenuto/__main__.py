"""``python -m tenuto`` is ``tenuto``."""

from __future__ import annotations

from tenuto.surfaces.cli.main import main

if __name__ == "__main__":
    main()

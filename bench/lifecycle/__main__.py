"""What time costs and what it keeps.

    python -m bench.lifecycle cost [--messages 10000] [--step 1000] [--endless]
    python -m bench.lifecycle findable --data DIR [--chats 10] [--cache FILE]

``cost`` plays years of made-up talk (with ``--endless`` one session that never ends) and prints, per step of history,
what one message costs: the call to ``observe`` itself, and the background work that it brings, by kind. Goal: flat.

``findable`` plays the evaluation's chats and asks their questions of each layer of what is kept, before and after
memories have faded and the text was purged.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from bench.lifecycle.cost import cost
from bench.lifecycle.findable import findable


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.lifecycle", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    cost_ = commands.add_parser("cost")
    cost_.add_argument("--messages", type=int, default=10_000)
    cost_.add_argument("--step", type=int, default=1000)
    cost_.add_argument("--endless", action="store_true", help="one session that never ends")
    findable_ = commands.add_parser("findable")
    findable_.add_argument("--data", type=Path, default=os.environ.get("TENUTO_BENCH_DATA"))
    findable_.add_argument("--chats", type=int, default=10)
    findable_.add_argument("--cache", type=Path)
    options = parser.parse_args()
    if options.command == "cost":
        cost(options.messages, options.step, endless=options.endless)
    else:
        findable(options.data, options.chats, options.cache)


main()

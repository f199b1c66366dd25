"""Mutation testing of the core decisions: ``python -m tests.mutants`` (``make mutants``).

For each module below every fault of :mod:`tests.mutants.plant` is planted into its functions, one at a time, in a
process of its own that has everything loaded already, and the tests that belong to the module are run until one fails.
A fault that no test notices is printed. Faults that change nothing anybody could notice are listed in ``EQUAL`` with
the reason; they do not count. At least ``GOAL`` of the rest must be caught.

What would break it: tests that fail without a fault, so they are run once as they are first.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import random
import signal
import sys
import time
import types
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.equal import EQUAL
from tests.mutants.plant import Fault, faults

SOURCE = Path(__file__).parents[2] / "src"
GOAL = 0.95
LIMIT = 120
"""Seconds after which tests that do not end count as having noticed."""
MODULES: dict[str, tuple[str, ...]] = {
    "tenuto.access.decide": ("tests/unit/access/test_decide.py",),
    "tenuto.context.budget": ("tests/unit/context/test_budget.py",),
    "tenuto.recall.gate": ("tests/unit/recall/test_gate.py",),
    "tenuto.ingest.ask_first": ("tests/flows/ingest/test_ask_first.py",),
    "tenuto.ingest.reconcile.decide": ("tests/unit/ingest/test_reconcile.py", "tests/unit/ingest/test_changed.py"),
    "tenuto.text.mail_proof": ("tests/unit/text/test_mail_proof.py",),
    "tenuto.workflow.collector": ("tests/unit/workflow",),
    "tenuto.privacy.removal": ("tests/privacy/test_parts.py",),
}
"""Scopes, budget, gate, confirmation of wishes, reconcile, trust of mail, confirmation of work, erasure."""


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.mutants", description="Plant faults; see that tests notice.")
    given.add_argument("--module", action="append", help="only modules whose name ends so")
    given.add_argument("--most", type=int, help="at most this many faults of each module, by chance")
    given.add_argument("--seed", type=int, default=1)
    chosen = given.parse_args()
    names = [one for one in MODULES if not chosen.module or any(one.endswith(end) for end in chosen.module)]
    caught = planted = 0
    for name in names:
        found, missed = _module(name, chosen.most, chosen.seed)
        caught, planted = caught + found, planted + found + len(missed)
        share = f"{found / max(1, found + len(missed)):.0%}"
        print(f"{name}: {found} of {found + len(missed)} caught ({share})", flush=True)
        for fault in missed:
            print(f"  survived  {fault}", flush=True)
    print(f"{caught} of {planted} planted faults caught: {caught / max(1, planted):.1%}, goal {GOAL:.0%}")
    sys.exit(0 if caught >= GOAL * planted else 1)


def _module(name: str, most: int | None, seed: int) -> tuple[int, list[Fault]]:
    module = importlib.import_module(name)
    source = (SOURCE / Path(*name.split("."))).with_suffix(".py").read_text(encoding="utf-8")
    tests = MODULES[name]
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *tests])  # loads what every child needs
    if not _passes(tests, None, module):
        sys.exit(f"{name}: its tests fail without a fault")
    known = [fault for fault in faults(source) if (name, fault.function, fault.before, fault.after) not in EQUAL]
    if most is not None and len(known) > most:
        known = random.Random(seed).sample(known, most)
    missed = [fault for fault in known if _passes(tests, fault, module)]
    return len(known) - len(missed), missed


def _passes(tests: tuple[str, ...], fault: Fault | None, module: types.ModuleType) -> bool:
    """Whether the tests pass with a fault; in a child process, so that the next one begins clean."""
    child = os.fork()
    if child == 0:
        os.setsid()
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            try:
                if fault is not None:
                    plant(module, fault)
                code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests])
            except BaseException:
                code = 1
        os._exit(int(code))
    ends = time.monotonic() + LIMIT
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def plant(module: types.ModuleType, fault: Fault) -> None:
    """Give the functions of a loaded module the code of the changed source; whoever imported them has them, too."""
    made: dict[str, Any] = dict(vars(module))
    exec(compile(fault.tree, str(module.__file__), "exec"), made)
    owner, _, name = fault.function.rpartition(".")
    ours, theirs = (getattr(module, owner), made[owner]) if owner else (module, None)
    kept = vars(ours)[name]
    fresh = vars(theirs)[name] if theirs is not None else made[name]
    _plain(kept).__code__ = _plain(fresh).__code__


def _plain(function: Any) -> types.FunctionType:
    """The function itself, without what a decorator put around it."""
    if isinstance(function, property):
        function = function.fget
    while hasattr(function, "__wrapped__") or hasattr(function, "__func__"):
        function = getattr(function, "__func__", None) or function.__wrapped__
    assert isinstance(function, types.FunctionType)
    return function


if __name__ == "__main__":
    main()

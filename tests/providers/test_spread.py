"""Work over threads: in order, and also where a program is ending and no thread can start any more."""

import subprocess
import sys

import pytest

from tenuto.providers.spread import spread

ENDING = """
import threading, time
from tenuto.providers.spread import spread

def late():
    threading.main_thread().join()
    print(spread(str, [1, 2, 3], 2, "late"), flush=True)

threading.Thread(target=late).start()
"""


def test_results_come_in_the_order_of_the_items():
    assert spread(lambda number: number * number, range(50), 3, "test") == [number * number for number in range(50)]


def test_an_error_of_the_work_is_raised():
    with pytest.raises(RuntimeError, match="on purpose"):
        spread(_fail, [1, 2, 3], 2, "test")


def test_a_program_that_is_ending_does_the_work_without_threads():
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("['1', '2', '3']", "")


def _fail(number: int) -> int:
    if number == 2:
        raise RuntimeError("on purpose")
    return number

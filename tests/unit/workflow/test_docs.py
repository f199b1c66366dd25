"""What the page says, the code does."""

import re
from pathlib import Path

from tenuto.policy import WorkflowPolicy
from tenuto.workflow.machine import DEFAULT

DOCS = Path(__file__).parents[3] / "docs"


def test_the_first_example_says_what_it_prints() -> None:
    page = (DOCS / "workflow.md").read_text(encoding="utf-8")
    block = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    lines = re.findall(r"^(work\.send\(.*?)\s+# (.*)$", block, re.MULTILINE)
    assert len(lines) == 4
    names: dict[str, object] = {"__name__": "page"}
    exec(block.split("work.send")[0], names)
    for call, printed in lines:
        assert repr(eval(call, names)) == printed


def test_the_drawing_has_every_step_and_no_other() -> None:
    page = (DOCS / "workflow-states.md").read_text(encoding="utf-8")
    drawn = set(re.findall(r"^    ([A-Z]+) --> ([A-Z]+)", page, re.MULTILINE))
    assert drawn == {(state, target) for state, targets in DEFAULT.transitions.items() for target in targets}


def test_the_page_has_the_numbers_of_the_policy() -> None:
    page = (DOCS / "workflow.md").read_text(encoding="utf-8")
    policy = WorkflowPolicy()
    assert f"{policy.value_bytes // 1024} KiB and {policy.depth} levels" in page
    assert f"{policy.keys:,} keys and items, {policy.operations} operations" in page
    assert f"m + {policy.mastery_rate} · (success − m)" in page
    assert f"/ {policy.mastery_half_life.days} days)" in page
    assert f"within {int(policy.confirm_within.total_seconds() // 60)} minutes" in page
    assert f"at most\n{policy.inferred_confidence}" in page

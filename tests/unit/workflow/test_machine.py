import pytest

from tenuto.errors import IllegalMove, InputError
from tenuto.workflow.machine import DEFAULT, Machine, check, move, steps_after_message

DRAWN = {
    "DRAFT": {"CLARIFYING"},
    "CLARIFYING": {"CLARIFYING", "READY"},
    "READY": {"GENERATING"},
    "GENERATING": {"SAVED", "FAILED", "READY"},
    "FAILED": {"READY"},
    "SAVED": set(),
}


def test_every_pair_of_states_is_allowed_or_refused_as_drawn() -> None:
    check(DEFAULT)
    for state, targets in DRAWN.items():
        for target in DRAWN:
            if target in targets:
                assert move(DEFAULT, state, target) == target
            else:
                with pytest.raises(IllegalMove) as refused:
                    move(DEFAULT, state, target)
                assert all(allowed in str(refused.value) for allowed in targets)


def test_a_message_moves_on_only_as_far_as_the_draft_allows() -> None:
    assert steps_after_message(DEFAULT, "DRAFT", complete=False) == ("CLARIFYING",)
    assert steps_after_message(DEFAULT, "DRAFT", complete=True) == ("CLARIFYING", "READY")
    assert steps_after_message(DEFAULT, "CLARIFYING", complete=False) == ("CLARIFYING",)
    assert steps_after_message(DEFAULT, "CLARIFYING", complete=True) == ("READY",)
    for state in ("READY", "GENERATING", "FAILED", "SAVED"):
        assert steps_after_message(DEFAULT, state, complete=True) == ()


def _machine(transitions: dict[str, tuple[str, ...]], collecting: set[str], frozen: set[str] | None = None) -> Machine:
    return Machine(
        initial="A", transitions=transitions, collecting=frozenset(collecting), frozen=frozenset(frozen or set())
    )


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (_machine({"A": ("B",), "B": (), "LOST": ("B",)}, {"A"}), "LOST"),
        (_machine({"A": ("B", "X"), "B": ()}, {"A"}), "'X'"),
        (_machine({"B": ()}, set()), "'A'"),
        (_machine({"A": ("A",)}, {"A"}), "out of the collecting"),
        (_machine({"A": ("B",), "B": ()}, {"A", "Q"}), "'Q'"),
        (_machine({"A": ("B",), "B": ()}, {"A"}, {"A"}), "both"),
        (_machine({"A": ("B", "B"), "B": ()}, {"A"}), "twice"),
        (_machine({"A": ("B",), "B": (), "": ()}, {"A"}), "1 to 64"),
    ],
)
def test_a_machine_that_is_not_sound_is_refused_by_name(machine: Machine, said: str) -> None:
    with pytest.raises(InputError) as refused:
        check(machine)
    assert said in str(refused.value)
    assert refused.value.code == "definition_invalid"

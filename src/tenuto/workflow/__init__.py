"""Typed work: a draft that is always valid, a state machine, locks, confirmations; only code writes it.

from tenuto.workflow import Field, define

trip = define("trip", Trip, fields={"destination": Field(hard=True)})
work = store.user("ana").workflow(trip)
print(work.send("Lisbon, please").text)
"""

from __future__ import annotations

from tenuto.workflow.definition import Definition, Field, Migration, Rule, define
from tenuto.workflow.load import days_between, from_data, in_order, load, sum_matches, sum_of
from tenuto.workflow.machine import DEFAULT, Machine
from tenuto.workflow.reading import Parser, Reading, Said, Unclear

__all__ = [
    "DEFAULT",
    "Definition",
    "Field",
    "Machine",
    "Migration",
    "Parser",
    "Reading",
    "Rule",
    "Said",
    "Unclear",
    "days_between",
    "define",
    "from_data",
    "in_order",
    "load",
    "sum_matches",
    "sum_of",
]

"""``tenuto worker``: carry out background work until told to stop."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from multiprocessing.process import BaseProcess
from types import FrameType

import click

from tenuto import settings as environment
from tenuto.errors import InputError
from tenuto.facade.job_handlers import HANDLERS
from tenuto.facade.store import open as open_store
from tenuto.facade.worker import Worker
from tenuto.surfaces.cli.shared import Settings

FAILED = 1


@click.command()
@click.option("-n", "--processes", default=1, show_default=True, type=click.IntRange(1, 64), help="How many.")
@click.option("--once", is_flag=True, help="Work until nothing is due, then end.")
@click.pass_obj
def worker(settings: Settings, processes: int, once: bool) -> None:
    """Carry out background jobs: embeddings, memories, summaries, closing of sessions."""
    url = settings.db or environment.connection("db") or "tenuto.db"
    if processes > 1 and not url.startswith(("postgresql://", "postgres://")):
        raise InputError(
            "A SQLite file has one writer: run one worker process, or use PostgreSQL for more.", code="one_worker"
        )
    if processes == 1:
        sys.exit(_work(url, once))
    sys.exit(_supervise(url, processes, once))


def _work(url: str, once: bool) -> int:
    """One process's life; its exit code."""
    with open_store(url, background=False) as store:
        one = Worker(store.deps, HANDLERS, report=lambda line: click.echo(line, err=True))
        one.on_signals()
        click.echo(f"working on {store!r}", err=True)
        if once:
            one.run_until_idle()
        else:
            one.run()
        click.echo(f"ended after {one.batches} batches", err=True)
    return 0


def _child(url: str, once: bool) -> None:
    sys.exit(_work(url, once))


def _supervise(url: str, processes: int, once: bool) -> int:
    """Start the processes, hand signals on, wait for all; one that dies takes the others down gracefully."""
    context = multiprocessing.get_context("spawn")
    children: list[BaseProcess] = [context.Process(target=_child, args=(url, once)) for _ in range(processes)]
    for child in children:
        child.start()

    def end(number: int, frame: FrameType | None) -> None:
        for child in children:
            if child.is_alive():
                child.terminate()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    worst = 0
    for child in children:
        child.join()
        if child.exitcode:
            worst = FAILED
            end(signal.SIGTERM, None)
    return worst

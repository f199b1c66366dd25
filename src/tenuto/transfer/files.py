"""Importing a file: recognise it, read it a batch at a time, and keep account of it.

Each batch is one transaction that also holds the import's record, so whatever stops it (a full disk, a damaged archive,
the user) leaves all batches before it in place, and importing the same file again goes on: what is there already is
recognised by its id and costs a look-up.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import tzinfo
from itertools import islice
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tenuto.deps import Deps
from tenuto.errors import InputError, NotFound, TenutoError
from tenuto.ports import Where
from tenuto.records.base import evolve
from tenuto.records.scope import Identity, Scope
from tenuto.records.transfer import Import, ImportStatus, Parsed, Said
from tenuto.transfer.formats.registry import choose
from tenuto.transfer.parsing import Format, Options, me
from tenuto.transfer.report import Estimate, estimate
from tenuto.transfer.source import Source, opened
from tenuto.transfer.take_in import Work, take_in
from tenuto.transfer.threads import Threads

PEEK = 2000
"""Messages that are looked at to find out whether the user is among the speakers."""
NOBODY = "none"
Progress = Callable[[int, int, Import], None]
"""Called after each batch with bytes read, bytes in all, and the import's record so far."""


def import_file(
    deps: Deps,
    scope: Scope,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    names: Iterable[str] = (),
    timezone: str = "UTC",
    vouch: bool = False,
    extract: bool = True,
    progress: Progress | None = None,
) -> Import:
    """Bring in a file, folder or archive; what came of it."""
    with opened(path, deps.policy.importing) as source:
        chosen = choose(source, format)
        options = _options(deps, scope, names, timezone)
        run = _begin(deps, scope, source, chosen)
        work = Work(run, Threads(chosen.name, deps.policy.session.idle_close), vouched=vouch, extract=extract)
        items = _checked(chosen, options, _parsed(chosen, source, options))
        try:
            while batch := list(islice(items, deps.policy.importing.batch)):
                run = take_in(deps, scope, work, batch)
                if progress is not None:
                    progress(min(source.read, source.size), source.size, run)
        except BaseException as error:
            _stopped(deps, scope, work.run, error)
            raise
        return _ended(deps, scope, work, vouch)


def estimate_file(
    deps: Deps,
    scope: Scope,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    names: Iterable[str] = (),
    timezone: str = "UTC",
    sample: list[str] | None = None,
) -> Estimate:
    """What an import would bring; nothing is written. ``sample`` is filled with some of its texts."""
    with opened(path, deps.policy.importing) as source:
        chosen = choose(source, format)
        options = _options(deps, scope, names, timezone)
        found = estimate(
            _parsed(chosen, source, options),
            chosen.name,
            source.name,
            skips_kept=deps.policy.importing.skips_kept,
            sample=sample,
        )
        found.model_tokens = found.tokens if deps.model is not None else 0
        price = deps.policy.model.price if found.model_tokens else 0.0
        found.price = None if price is None else round(found.model_tokens / 1e6 * price, 2)
        return found


def _parsed(chosen: Format, source: Source, options: Options) -> Iterator[Parsed]:
    yield from source.skips
    try:
        yield from chosen.parse(source, options)
    except RecursionError:
        raise InputError(f"{source.name} is nested too deeply to be an export.", code="import_damaged") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError) as error:
        raise InputError(
            f"{source.name} is not a {chosen.title} as it is known here ({type(error).__name__}: {error}). What was "
            "imported before stays.",
            code="import_damaged",
        ) from error


def _options(deps: Deps, scope: Scope, names: Iterable[str], timezone: str) -> Options:
    with deps.store.reading(scope.user) as reader:
        addresses = [identity.address for identity in reader.find(Identity) if identity.verified_at is not None]
    return Options(
        now=deps.clock(),
        policy=deps.policy.importing,
        me=me(*names, *addresses),
        zone=zone_of(timezone),
        limit=deps.policy.limits.text_bytes,
    )


def zone_of(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InputError(f"Unknown time zone {name!r}: write it as Europe/Rome.", code="timezone_unknown") from None


def _checked(chosen: Format, options: Options, items: Iterator[Parsed]) -> Iterator[Parsed]:
    """The items; a chat between people in which the user cannot be found is refused before anything is written."""
    first = list(islice(items, PEEK))
    said = [item for item in first if isinstance(item, Said)]
    if chosen.people and said and NOBODY not in options.me and not any(item.mine for item in said):
        speakers = list(dict.fromkeys(item.speaker or "?" for item in said))[:12]
        raise InputError(
            f"Who of these are you: {', '.join(speakers)}? Say so with --me NAME (in code: me='NAME'); --me none if "
            "you are none of them.",
            code="import_who_are_you",
        )
    yield from first
    yield from items


def _begin(deps: Deps, scope: Scope, source: Source, chosen: Format) -> Import:
    now = deps.clock()
    id = f"imp_{source.fingerprint()}"
    with deps.store.writing(scope.user) as tx:
        known = tx.get(Import, id)
        run = Import(id=id, format=chosen.name, name=source.name[:200], started_at=now, updated_at=now)
        if known is not None:
            run = evolve(
                known, status=ImportStatus.RUNNING, updated_at=now, error=None, skipped=0, skips=(), duplicates=0
            )
        tx.put(run)
    return run


def _stopped(deps: Deps, scope: Scope, run: Import, error: BaseException) -> None:
    """Write why it stopped. If even that fails, the first error is the one to report."""
    said = error.message if isinstance(error, TenutoError) else type(error).__name__
    try:
        with deps.store.writing(scope.user) as tx:
            tx.put(evolve(run, status=ImportStatus.STOPPED, updated_at=deps.clock(), error=said[:500]))
    except TenutoError:
        return


def _ended(deps: Deps, scope: Scope, work: Work, vouch: bool) -> Import:
    now = deps.clock()
    run = evolve(
        work.run,
        status=ImportStatus.DONE,
        finished_at=now,
        updated_at=now,
        threads=len(work.threads.runs),
        vouched_at=work.run.vouched_at or (now if vouch else None),
    )
    with deps.store.writing(scope.user) as tx:
        tx.put(run)
    return run


def imports(deps: Deps, scope: Scope) -> list[Import]:
    """All imports of a user, newest first."""
    with deps.store.reading(scope.user) as reader:
        return reader.find(Import, order="-started_at")


def find_import(deps: Deps, scope: Scope, id: str) -> Import:
    with deps.store.reading(scope.user) as reader:
        found = reader.get(Import, id) or next(iter(reader.find(Import, Where("id", "=", f"imp_{id}"))), None)
    if found is None:
        raise NotFound(f"There is no import {id!r}: 'tenuto import --list' shows them.", code="import_unknown")
    return found

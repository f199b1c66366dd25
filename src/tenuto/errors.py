"""Every error that Tenuto raises on purpose.

    TenutoError
    ├── InputError            the caller gave something that cannot be taken
    │   ├── SettingError      a setting that is unknown or out of range
    │   └── BudgetTooSmall    what must be in a context does not fit; ``needed`` says how many tokens would do
    ├── NotFound              no such thing for this user
    ├── Conflict              the thing exists and says otherwise
    │   └── IllegalMove       a state machine does not allow this step
    ├── Denied                not allowed
    ├── VaultError            a key is missing, or what it sealed was changed
    ├── ProviderError         something outside of the store did not answer
    │   ├── EmbedderError
    │   ├── ReaderError
    │   └── ModelError
    ├── ReadingStopped        a text took too long or too much memory to read
    └── StoreError            the place where everything is kept
        ├── StoreClosed       used after close()
        ├── StoreBusy         locked or unreachable for now: try again
        ├── StoreFull         no space left
        ├── NotWritable       the path or the role does not allow writing
        ├── NotADatabase      the file is something else
        ├── StoreCorrupt      the file is damaged
        └── SchemaMismatch    made by a newer Tenuto, or waiting for an upgrade

``code`` is stable and meant for programs; the message says what happened and what to do next. The core knows nothing
of HTTP: a surface maps ``code`` to a status. ``retry`` tells whether the same call may succeed later.
"""

from __future__ import annotations


class TenutoError(Exception):
    """The root: catch this to catch everything that Tenuto raises on purpose."""

    code: str = "error"
    retry: bool = False

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InputError(TenutoError):
    """The caller gave something that cannot be taken; nothing was written."""

    code = "invalid_input"


class SettingError(InputError):
    """A setting is unknown, of the wrong type or out of range."""

    code = "invalid_setting"


class BudgetTooSmall(InputError):
    """The pins, the persona and the message alone are larger than the budget of a context."""

    code = "budget_too_small"

    def __init__(self, message: str, *, needed: int) -> None:
        super().__init__(message)
        self.needed = needed


class NotFound(TenutoError):
    """There is no such thing for this user."""

    code = "not_found"


class Conflict(TenutoError):
    """The thing exists already and says otherwise."""

    code = "conflict"


class IllegalMove(Conflict):
    """A state machine does not allow this step; the message names the steps that it allows."""

    code = "illegal_move"


class Denied(TenutoError):
    """Not allowed."""

    code = "denied"


class VaultError(TenutoError):
    """A key is missing or wrong, or what was sealed with it was changed or moved."""

    code = "vault_failed"


class ProviderError(TenutoError):
    """Something outside of the store did not answer as it should."""

    code = "provider_failed"
    retry = True


class EmbedderError(ProviderError):
    """The embedder failed; what was written stays and is embedded later."""

    code = "embedder_failed"


class ReaderError(ProviderError):
    """The reader's weights are not there or cannot be loaded; messages are kept, and read later."""

    code = "reader_failed"


class ModelError(ProviderError):
    """The model failed or answered rubbish; the deterministic path took over where there is one."""

    code = "model_failed"


class ReadingStopped(TenutoError):
    """Reading a text took longer, or more memory, than it may; the process that read it was ended, nothing else was."""

    code = "reading_stopped"


class StoreError(TenutoError):
    """The place where everything is kept cannot do it."""

    code = "store_failed"


class StoreClosed(StoreError):
    """Used after ``close()``."""

    code = "store_closed"


class StoreBusy(StoreError):
    """Locked by another process, or unreachable for now: try again."""

    code = "store_busy"
    retry = True


class StoreFull(StoreError):
    """No space left; the step at hand was undone. A verb of several steps goes on from there when called again."""

    code = "store_full"


class NotWritable(StoreError):
    """The path cannot be written."""

    code = "not_writable"


class NotADatabase(StoreError):
    """The file is something else."""

    code = "not_a_database"


class StoreCorrupt(StoreError):
    """The database is damaged."""

    code = "store_corrupt"


class SchemaMismatch(StoreError):
    """The database was made by a newer Tenuto, or waits for an upgrade."""

    code = "schema_mismatch"


def where_raised(error: BaseException) -> str:
    """An error's class and the place that raised it, without its words: they may hold content, and logs hold none."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f" at {trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{where}"

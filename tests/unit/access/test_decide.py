"""What a key may do, case by case."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tenuto.access.decide import Need, check_mint, check_new, check_role, permit, subject_of, usable
from tenuto.errors import Denied, InputError
from tenuto.records.access import ApiKey, KeyKind, KeyScope

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def key(scope: KeyScope, **changes: object) -> ApiKey:
    return ApiKey(**{"id": "k", "name": "n", "scope": scope, "digest": "d", "created_at": NOW, **changes})


def test_a_key_is_usable_until_it_is_revoked_or_expires() -> None:
    assert usable(key(KeyScope.USER), NOW)
    assert usable(key(KeyScope.USER, expires_at=NOW + timedelta(seconds=1)), NOW)
    assert not usable(key(KeyScope.USER, expires_at=NOW), NOW)
    assert not usable(key(KeyScope.USER, revoked_at=NOW - timedelta(days=1)), NOW)
    assert not usable(key(KeyScope.USER, revoked_at=NOW, expires_at=NOW + timedelta(days=1)), NOW)


def test_the_user_comes_from_the_key() -> None:
    bound = key(KeyScope.USER, subject="ana")
    assert subject_of(bound, None) == subject_of(bound, "ana") == "ana"
    with pytest.raises(Denied):
        subject_of(bound, "ben")
    assert subject_of(key(KeyScope.APP), "ben") == "ben"
    with pytest.raises(InputError):
        subject_of(key(KeyScope.APP), None)


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        (KeyScope.ADMIN, set(Need)),
        (KeyScope.APP, set(Need) - {Need.ADMIN}),
        (KeyScope.USER, {Need.PUBLIC, Need.READ, Need.WRITE}),
        (KeyScope.READ, {Need.PUBLIC, Need.READ}),
    ],
)
def test_a_scope_covers_what_the_table_says(scope: KeyScope, allowed: set[Need]) -> None:
    for need in Need:
        if need in allowed:
            permit(key(scope), need)
        else:
            with pytest.raises(Denied):
                permit(key(scope), need)
        with pytest.raises(Denied):
            permit(key(scope, kind=KeyKind.LINK), need)


def test_only_an_app_or_an_admin_speaks_as_the_system() -> None:
    for scope in (KeyScope.ADMIN, KeyScope.APP):
        check_role(key(scope), "system")
    for scope in (KeyScope.USER, KeyScope.READ):
        check_role(key(scope), "user")
        with pytest.raises(Denied):
            check_role(key(scope), "system")


def test_keys_of_users_name_them_and_others_name_nobody() -> None:
    check_new(KeyScope.USER, "ana")
    check_new(KeyScope.READ, None)
    check_new(KeyScope.READ, "ana")
    with pytest.raises(InputError):
        check_new(KeyScope.USER, None)
    for scope in (KeyScope.ADMIN, KeyScope.APP):
        check_new(scope, None)
        with pytest.raises(InputError):
            check_new(scope, "ana")


def test_an_app_mints_for_one_user_at_a_time() -> None:
    for scope in (KeyScope.USER, KeyScope.READ):
        check_mint(key(KeyScope.APP), scope)
        with pytest.raises(Denied):
            check_mint(key(KeyScope.USER), scope)
    for scope in (KeyScope.ADMIN, KeyScope.APP):
        with pytest.raises(Denied):
            check_mint(key(KeyScope.ADMIN), scope)

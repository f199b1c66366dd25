"""``tenuto erase`` and ``tenuto vault`` as a person would call them."""

from pathlib import Path

import apsw
from click.testing import CliRunner

from tenuto.surfaces.cli.main import cli


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_erase_with_a_proof_that_is_checked_again(tmp_path: Path) -> None:
    db, proof = str(tmp_path / "t.db"), tmp_path / "proof.json"
    run("--db", db, "observe", "-u", "ana", "My secret is a marmalade recipe")
    assert CliRunner().invoke(cli, ["--db", db, "erase", "ana"], input="n\n").exit_code != 0
    code, output = run("--db", db, "erase", "ana", "--yes", "--proof", str(proof))
    assert code == 0 and "gone" in output
    assert run("--db", db, "erase", "ana", "--verify", str(proof))[0] == 0
    assert b"marmalade" not in (tmp_path / "t.db").read_bytes()
    run("--db", db, "observe", "-u", "ana", "I am back")
    code, output = run("--db", db, "erase", "ana", "--verify", str(proof))
    assert code == 1 and "messages" in output


def test_encrypt_rotate_rewrap_and_recover(tmp_path: Path) -> None:
    db, keys = str(tmp_path / "t.db"), f"file:{tmp_path / 'key'}"
    run("--db", db, "observe", "-u", "ana", "My secret is a marmalade recipe")
    assert b"marmalade" in (tmp_path / "t.db").read_bytes(), "the control: plain words are there before"
    assert run("--db", db, "vault", "encrypt", "--keys", keys)[0] == 0
    assert b"marmalade" not in (tmp_path / "t.db").read_bytes()
    assert run("--db", db, "vault", "rotate", "--keys", keys)[0] == 0
    assert run("--db", db, "vault", "rewrap", "--keys", keys)[0] == 0
    assert run("vault", "recovery", str(tmp_path / "copy"), "--keys", keys)[0] == 0
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "key").read_bytes()


def test_the_audit_log_is_shown_verified_and_its_head_kept(tmp_path: Path) -> None:
    db, head = str(tmp_path / "t.db"), str(tmp_path / "head.json")
    run("--db", db, "observe", "-u", "ana", "My secret is a marmalade recipe")
    run("--db", db, "recall", "-u", "ana", "marmalade")
    code, output = run("--db", db, "audit", "show", "-u", "ana")
    assert code == 0 and "observe" in output and "recall" in output and "cli" in output
    assert "marmalade" not in output
    assert run("--db", db, "audit", "head", head)[0] == 0
    code, output = run("--db", db, "audit", "verify", "--head", head)
    assert code == 0 and "whole" in output
    file = apsw.Connection(db)
    file.execute("UPDATE audit SET actor = 'nobody' WHERE n = 1")
    file.close()
    code, output = run("--db", db, "audit", "verify")
    assert code == 1 and "entry 1 was changed" in output


def test_a_part_is_erased_and_a_source_taken_back(tmp_path: Path) -> None:
    db, proof = str(tmp_path / "t.db"), str(tmp_path / "proof.json")
    run("--db", db, "observe", "-u", "ana", "My secret is a marmalade recipe", "--id", "m1")
    run("--db", db, "observe", "-u", "ana", "I like tea")
    assert run("--db", db, "erase", "ana", "--message", "m1", "--yes", "--proof", proof)[0] == 0
    assert b"marmalade" not in (tmp_path / "t.db").read_bytes()
    assert run("--db", db, "erase", "ana", "--verify", proof)[0] == 0
    code, output = run("--db", db, "undo", "conversation", "-u", "ana")
    assert code == 0 and all(f"1 {table}" in output for table in ("memories", "receipts", "messages"))
    assert output.startswith("Would go: ") and "Nothing was changed" in output
    assert "total_messages" in run("--db", db, "--json", "stats", "-u", "ana")[1]
    assert run("--db", db, "undo", "conversation", "-u", "ana", "--yes")[0] == 0
    assert '"total_messages": 0' in run("--db", db, "--json", "stats", "-u", "ana")[1]

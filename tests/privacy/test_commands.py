"""``tenuto erase`` and ``tenuto vault`` as a person would call them."""

from pathlib import Path

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

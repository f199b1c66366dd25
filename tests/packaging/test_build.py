"""What is in the source archive and in the wheel that is built from it, without a network."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
import tenuto_minilm

import tenuto

ROOT = Path(__file__).parents[2]
NAME = f"tenuto-{tenuto.__version__}"
STRAY = ("src/tenuto/left.db", "docs/left.db", "secrets.env", "packages/tenuto-minilm/src/tenuto_minilm/data/left.json")
"""Files that lie about in the tree when somebody builds."""


def offline(command: list[str], folder: Path, **env: str) -> str:
    known = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHONPATH"))}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=known | {"PIP_NO_INDEX": "1"} | env,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive of a copy of this tree, and the wheel that is built from that archive."""
    top = tmp_path_factory.mktemp("build")
    tree, dist = top / "tree", top / "dist"
    ours = shutil.ignore_patterns("__pycache__", "*.db", "*.db-wal", "*.db-shm", "tenuto-e5")
    for name in ("src", "docs", "packages"):
        shutil.copytree(ROOT / name, tree / name, ignore=ours)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tree)
    for name in STRAY:
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text("left behind")
    weights = str(tenuto_minilm.model_path().parent)
    offline(["-m", "hatchling", "build", "-t", "sdist", "-d", str(dist)], tree, TENUTO_MINILM_FILES=weights)
    with tarfile.open(dist / f"{NAME}.tar.gz") as archive:
        archive.extractall(top, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    offline(["-m", "hatchling", "build", "-t", "wheel", "-d", str(dist)], top / NAME)
    return dist


def tree(folder: Path, *, below: str) -> set[str]:
    files = (path for path in (folder / below).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {
        path.relative_to(folder).as_posix() for path in files if not path.name.endswith((".db", ".db-wal", ".db-shm"))
    }


def weights() -> set[str]:
    return {
        *("tenuto_minilm/__init__.py", "tenuto_minilm/py.typed"),
        *("tenuto_minilm/data/model_quantized.onnx", "tenuto_minilm/data/tokenizer.json"),
        *("tenuto_reader/__init__.py", "tenuto_reader/py.typed"),
        *("tenuto_reader/data/model.onnx", "tenuto_reader/data/tokenizer.json", "tenuto_reader/data/labels.json"),
    }


def test_the_source_archive_holds_the_code_the_docs_and_the_weights_and_nothing_else(built: Path):
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        found = {member.name.removeprefix(f"{NAME}/") for member in archive.getmembers()}
    pack = {f"packages/{name.split('/')[0].replace('_', '-')}/src/{name}" for name in weights()}
    beside = {f"packages/tenuto-minilm/{name}" for name in ("README.md", "obtain.py")}
    beside |= {f"packages/tenuto-reader/{name}" for name in ("README.md", "LICENSE.e5")}
    top = {"pyproject.toml", "hatch_build.py", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore", "PKG-INFO"}
    assert found == tree(ROOT, below="src") | tree(ROOT, below="docs") | pack | beside | top


def test_the_wheel_holds_the_code_and_the_weights_and_nothing_else(built: Path):
    with zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl") as wheel:
        found = set(wheel.namelist())
        about = {name.split("/", 1)[1] for name in found if name.startswith(f"{NAME}.dist-info/")}
        metadata = message_from_bytes(wheel.read(f"{NAME}.dist-info/METADATA"))
    assert {name for name in found if ".dist-info/" not in name} == tree(ROOT / "src", below="tenuto") | weights()
    licences = {"licenses/LICENSE", "licenses/packages/tenuto-reader/LICENSE.e5"}
    assert about == {"METADATA", "WHEEL", "RECORD", "entry_points.txt"} | licences
    assert metadata["Version"] == tenuto.__version__
    ours = [one for one in metadata.get_all("Requires-Dist", []) if one.startswith("tenuto-") and "extra" not in one]
    assert ours == [], "the wheel needs another package of ours, which is on no index"


def test_the_wheel_installs_and_runs_by_itself(built: Path, tmp_path: Path):
    wheel, place = str(built / f"{NAME}-py3-none-any.whl"), tmp_path / "site"
    offline(["-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--target", str(place), wheel], tmp_path)
    program = (
        "import tenuto, tenuto_minilm, tenuto_reader, sys\n"
        "assert all(one.__file__.startswith(sys.argv[1]) for one in (tenuto, tenuto_minilm, tenuto_reader))\n"
        "with tenuto.open('memory:', background=False) as store:\n"
        "    ana = store.user('ana')\n"
        "    ana.observe('My dad is allergic to penicillin.')\n"
        "    store.settle()\n"
        "    print(ana.recall('allergies of the father', kinds=['memory'])[0].text)\n"
    )
    assert "penicillin" in offline(["-c", program, str(place)], tmp_path, PYTHONPATH=str(place))
    said = offline(["-m", "tenuto", "--version"], tmp_path, PYTHONPATH=str(place))
    assert said.strip() == f"tenuto, version {tenuto.__version__}"


def test_weights_that_are_not_the_known_ones_stop_the_build(tmp_path: Path):
    for name in ("model_quantized.onnx", "tokenizer.json"):
        (tmp_path / name).write_text("something else")
    program = (
        "import runpy, sys, pathlib\n"
        f"obtain = runpy.run_path({str(ROOT / 'packages/tenuto-minilm/obtain.py')!r})['obtain']\n"
        "try:\n    obtain(pathlib.Path('data'))\n"
        "except RuntimeError as error:\n    print(error)\n"
    )
    said = offline(["-c", program], tmp_path, TENUTO_MINILM_FILES=str(tmp_path))
    assert "expected" in said and "TENUTO_MINILM_FILES" in said
    assert not any((tmp_path / "data").iterdir())

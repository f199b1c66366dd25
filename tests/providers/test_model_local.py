"""A model file of one's own: what is said when something is missing. ``make model-test`` runs it with real weights."""

import importlib.util

import pytest

import tenuto
from tenuto.errors import SettingError
from tenuto.policy import ModelPolicy
from tenuto.providers.model import parse_model
from tenuto.providers.model_local import FILE, LocalModel


def test_the_file_is_named_in_the_setting_or_by_the_environment(tmp_path):
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    for spec, secret in ((f"local:{file}", lambda _: None), ("local", {FILE: str(file)}.get)):
        model = parse_model(spec, ModelPolicy(), secret)
        assert isinstance(model, LocalModel)
        assert model.name == "small"


def test_without_a_file_it_says_what_to_do(tmp_path):
    with pytest.raises(SettingError, match="TENUTO_MODEL_FILE"):
        parse_model("local", ModelPolicy(), lambda _: None)
    with pytest.raises(SettingError, match="is not there"):
        tenuto.open("memory:", model=f"local:{tmp_path / 'none.gguf'}")


def test_somebody_who_is_not_the_operator_names_no_file(tmp_path):
    with pytest.raises(SettingError, match="operator"):
        parse_model(f"local:{tmp_path / 'x.gguf'}", ModelPolicy(), lambda _: None, guarded=True)


@pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is not None, reason="llama.cpp is installed here")
def test_without_llama_cpp_it_names_the_extra(tmp_path):
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(SettingError, match=r"tenuto\[local\]"):
        LocalModel(file).complete(system="", user="Hi")

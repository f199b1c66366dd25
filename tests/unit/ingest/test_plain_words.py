"""The reader that ships, on the plainest sentences of five languages: each of these must work."""

from datetime import UTC, datetime

import pytest

from tenuto.ingest.extract.exchange import Exchange, Extraction
from tenuto.ingest.extract.propositions import propositions
from tenuto.policy import MemoryPolicy
from tenuto.providers.reader import LocalReader
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import PinKind

AT = datetime(2026, 5, 13, 14, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def reader() -> LocalReader:
    return LocalReader(threads=1)


def read(reader: LocalReader, text: str, before: str | None = None) -> Extraction:
    message = Message(id="m", session_id="s", role=Role.USER, content=text, at=AT, channel="api", persona="coach")
    return propositions(Exchange(message=message, before=before), reader.read(text, before), MemoryPolicy())


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I'm allergic to nuts.", "Is allergic to nuts"),
        ("My dad is allergic to penicillin.", "Dad is allergic to penicillin"),
        ("I take metformin 500 mg twice a day.", "Takes metformin 500 mg twice a day"),
        ("My mum takes apixaban.", "Mum takes apixaban"),
        ("I have type 1 diabetes.", "Has type 1 diabetes"),
        ("My blood type is A negative.", "Has blood type A negative"),
        (
            "If anything happens to me, call my brother Nils on 0171 555 0199.",
            "Nils (brother) is an emergency contact: 0171 555 0199",
        ),
        ("Ich bin allergisch gegen Nüsse.", "Ist allergisch gegen Nüsse"),
        ("Mein Vater nimmt Ramipril 5 mg.", "Vater nimmt Ramipril 5 mg"),
        ("Soy alérgica a los cacahuetes.", "Es alérgico a cacahuetes"),
        ("Mi padre toma sintrom.", "Padre toma sintrom"),
        ("Je suis allergique aux arachides.", "Est allergique à arachides"),
        ("Ma mère prend Eliquis 5 mg.", "Mère prend Eliquis 5 mg"),
        ("Sou alérgica a amendoim.", "É alérgico a amendoim"),
        ("O meu pai toma varfarina.", "Pai toma varfarina"),
    ],
)
def test_what_is_life_critical_is_pinned(reader: LocalReader, text: str, content: str):
    (one,) = read(reader, text).candidates
    assert (one.content, one.pin) == (content, PinKind.AUTO)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I live in Lisbon.", "Lives in Lisbon"),
        ("I moved to Bergen.", "Lives in Bergen"),
        ("My sister Anna lives in Ghent.", "Anna (sister) lives in Ghent"),
        ("I work as a nurse at St. Mary's Hospital.", "Works as a nurse at St. Mary's Hospital"),
        ("I work as a teacher.", "Works as a teacher"),
        ("My wife is called Maria.", "Maria is the user's wife"),
        ("My boss is Priya.", "Priya is the user's boss"),
        ("We have a dog called Rex.", "Has a dog called Rex"),
        ("I really like hiking.", "Likes hiking"),
        ("I hate olives.", "Does not like olives"),
        ("I'm vegetarian.", "Is vegetarian"),
        ("I stopped taking warfarin.", "No longer takes warfarin"),
        ("I quit my job at Siemens.", "No longer works at Siemens"),
        ("I play chess on Sundays.", "Plays chess on Sundays"),
        ("My name is Sam.", "Is called Sam"),
        ("I'm 34.", "Is 34 years old"),
        ("My birthday is on 3 March.", "Has a birthday on 3 March"),
        ("My flight to Rome is on 3 June.", "Their flight to Rome is on 3 June 2026"),
        ("Ich wohne in Augsburg.", "Wohnt in Augsburg"),
        ("Ich arbeite als Krankenschwester.", "Arbeitet als Krankenschwester"),
        ("Meine Frau heißt Jana.", "Jana ist Frau des Nutzers"),
        ("Vivo en Sevilla.", "Vive en Sevilla"),
        ("Trabajo como enfermera.", "Trabaja como enfermera"),
        ("Mi hermana se llama Lucía.", "Lucía es hermana del usuario"),
        ("J'habite à Lyon.", "Habite à Lyon"),
        ("Je travaille comme infirmière.", "Travaille comme infirmière"),
        ("Mon frère s'appelle Hugo.", "Hugo : frère de l'utilisateur"),
        ("Moro em Braga.", "Mora em Braga"),
        ("Trabalho como enfermeira.", "Trabalha como enfermeira"),
        ("A minha irmã chama-se Inês.", "Inês é irmã do utilizador"),
    ],
)
def test_what_is_said_plainly_is_one_memory(reader: LocalReader, text: str, content: str):
    assert [one.content for one in read(reader, text).candidates] == [content]


@pytest.mark.parametrize(
    ("text", "content", "due"),
    [
        ("I need to call the bank tomorrow.", "Call the bank", "2026-05-14"),
        ("Remind me to pay the rent on Friday.", "Pay the rent", "2026-05-15"),
        ("I promised my mum I'd call her on Sunday.", "Call Mum", "2026-05-17"),
        ("Ich muss morgen die Bank anrufen.", "Die Bank anrufen", "2026-05-14"),
        ("Tengo que llamar al banco mañana.", "Llamar al banco", "2026-05-14"),
        ("Je dois appeler la banque demain.", "Appeler la banque", "2026-05-14"),
        ("Tenho de ligar ao banco amanhã.", "Ligar ao banco", "2026-05-14"),
    ],
)
def test_what_is_to_be_done_has_its_date(reader: LocalReader, text: str, content: str, due: str):
    (draft,) = read(reader, text).todos
    assert (draft.content, draft.due and draft.due.date().isoformat()) == (content, due)


@pytest.mark.parametrize(
    ("text", "cancelled"),
    [
        ("I paid the rent.", False),
        ("I called the bank.", False),
        ("The passport is renewed.", False),
        ("The dentist is done.", False),
        ("Scrap the dentist, I don't need it any more.", True),
        ("Miete ist bezahlt.", False),
        ("Ich habe die Bank angerufen.", False),
        ("Ya llamé al banco.", False),
        ("J'ai appelé la banque.", False),
        ("Já liguei ao banco.", False),
    ],
)
def test_what_is_done_is_heard(reader: LocalReader, text: str, cancelled: bool):
    assert [one.cancelled for one in read(reader, text).finished] == [cancelled]


@pytest.mark.parametrize(
    ("text", "wish", "about"),
    [
        ("Forget what I said about my divorce.", "forget", "divorce"),
        ("Please don't bring up Callum again.", "do_not_bring_up", "Callum"),
        ("You can talk about Callum again.", "may_mention", "Callum"),
        ("Don't save this: I'm pregnant.", "do_not_save", ""),
        ("Just between us, I want to quit my job.", "private", ""),
        ("Remember that my locker is number 12.", "remember", ""),
        ("Vergiss, was ich über meine Scheidung gesagt habe.", "forget", "Scheidung"),
        ("Sprich Callum bitte nicht mehr an.", "do_not_bring_up", "Callum"),
        ("Bitte speichere das nicht: ich bin schwanger.", "do_not_save", ""),
        ("Olvida lo que te dije de mi divorcio.", "forget", "divorcio"),
        ("No menciones más a Callum.", "do_not_bring_up", "Callum"),
        ("No guardes esto: estoy embarazada.", "do_not_save", ""),
        ("Oublie ce que j'ai dit sur mon divorce.", "forget", "divorce"),
        ("Ne me parle plus de Callum.", "do_not_bring_up", "Callum"),
        ("Ne garde pas ça : je suis enceinte.", "do_not_save", ""),
        ("Esquece o que eu disse sobre o meu divórcio.", "forget", "divórcio"),
        ("Não me fales mais do Callum.", "do_not_bring_up", "Callum"),
        ("Não guardes isto: estou grávida.", "do_not_save", ""),
    ],
)
def test_every_wish_is_heard(reader: LocalReader, text: str, wish: str, about: str):
    found = read(reader, text)
    assert [one.wish for one in found.wishes] == [wish]
    assert about in found.wishes[0].about and bool(about) == bool(found.wishes[0].about)
    assert not (wish == "do_not_save" and found.candidates)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("From now on, answer in German.", "style_adjustment"),
        ("Never use emojis.", "boundary"),
        ("Antworte ab jetzt auf Englisch.", "style_adjustment"),
        ("Respóndeme siempre en español.", "style_adjustment"),
        ("Réponds toujours en français.", "style_adjustment"),
        ("Responde sempre em português.", "style_adjustment"),
    ],
)
def test_how_to_answer_is_guidance(reader: LocalReader, text: str, kind: str):
    assert [one.kind for one in read(reader, text).candidates] == [kind]


def test_an_answer_is_read_beside_its_question(reader: LocalReader):
    found = read(reader, "Penicillin, and sulfa drugs too.", before="Does your father have any allergies?")
    assert {(one.subject, one.attribute) for one in found.candidates} == {("person:father", "allergy")}


@pytest.mark.parametrize(
    "text",
    [
        "How are you?",
        "Good morning!",
        "That's great!",
        "If I lived in Rome I'd be happy.",
        "What if I were vegan?",
        "Write me a song about Rome.",
        "I'm allergic to Mondays lol",
        "Was ist die Hauptstadt von Portugal?",
        "¿Qué tiempo hace hoy?",
        "Merci beaucoup !",
        "Bom dia, tudo bem?",
        "The film was about a man who lived in Paris and worked as a spy.",
        "😀",
        "def f():\n    return 1",
    ],
)
def test_what_is_no_news_leaves_nothing(reader: LocalReader, text: str):
    found = read(reader, text)
    assert (found.candidates, found.todos, found.wishes) == ((), (), ())

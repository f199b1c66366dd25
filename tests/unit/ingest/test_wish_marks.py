"""What the person asks of memory itself, and of the answers. The marks are made by hand."""

import pytest
from tests.unit.marked import read

from tenuto.records.memory import Kind


@pytest.mark.parametrize(
    ("text", "wish", "about"),
    [
        ("{forget:Forget what I said about {topic:my diagnosis}}", "forget", "my diagnosis"),
        ("{forget:Forget that I got divorced}", "forget", "got divorced"),
        ("{forget:forget that}", "forget", ""),
        ("{forget:please forget about that}", "forget", ""),
        ("{silence:Don't bring up {topic:Callum} again}", "do_not_bring_up", "Callum"),
        (
            "{silence:please don't bring up {topic:my sister} Ailsa, we're not talking}",
            "do_not_bring_up",
            "my sister Ailsa",
        ),
        ("{silence:please don't mention my divorce any more}", "do_not_bring_up", "my divorce"),
        ("{silence:don't bring that up again}", "do_not_bring_up", ""),
        ("{unsilence:you can talk about {topic:Callum} again}", "may_mention", "Callum"),
        ("{forget:Vergiss, was ich über {topic:meine Scheidung} gesagt habe}", "forget", "meine Scheidung"),
        ("{forget:vergiss das}", "forget", ""),
        ("{silence:Sprich {topic:Callum} nicht mehr an}", "do_not_bring_up", "Callum"),
        ("{forget:olvida lo de {topic:mi divorcio}}", "forget", "mi divorcio"),
        ("{forget:olvídalo}", "forget", ""),
        ("{forget:oublie {topic:mon divorce}}", "forget", "mon divorce"),
        ("{forget:oublie ça}", "forget", ""),
        ("{forget:esquece {topic:o meu divórcio}}", "forget", "o meu divórcio"),
        ("{forget:esquece isso}", "forget", ""),
    ],
)
def test_wishes_and_what_they_are_about(text: str, wish: str, about: str):
    (one,) = read(text).wishes
    assert (one.wish, one.about) == (wish, about)


@pytest.mark.parametrize(
    "text",
    [
        "{offrec:Don't save this}: my pin code is 4711.",
        "{offrec:Bitte speichere das nicht}: ich bin {cond:schwanger}.",
        "{offrec:No guardes esto}: estoy {cond:embarazada}.",
        "{offrec:Ne garde pas ça}: je suis {cond:enceinte}.",
        "{offrec:Não guardes isto}: estou {cond:grávida}.",
    ],
)
def test_off_the_record_keeps_nothing_of_the_message(text: str):
    found = read(text)
    assert (found.candidates, found.todos, found.mentions) == ((), (), ())
    assert [(one.wish, one.previous) for one in found.wishes] == [("do_not_save", False)]


def test_off_the_record_alone_is_about_the_message_before():
    (wish,) = read("{offrec:Please don't save that}").wishes
    assert wish.previous


def test_what_is_confided_is_kept_for_the_persona():
    (one,) = read("{private:Just between us}, I work at {employer:the bank}").candidates
    assert one.persona == "coach"
    (shared,) = read("I work at {employer:the bank}").candidates
    assert shared.persona is None


def test_what_is_to_be_remembered_is_kept_and_weighs_more():
    (one,) = read("{keep:Remember that} the spare key is under the mat.").candidates
    assert (one.content, one.importance) == ("The spare key is under the mat", 7.0)
    (known,) = read("{keep:Remember that} I love {like:jazz}").candidates
    assert (known.content, known.importance) == ("Likes jazz", 7.0)
    bare = read("{keep:remember that}")
    assert bare.candidates == () and [one.wish for one in bare.wishes] == ["remember"]


def test_nothing_else_is_kept_of_a_wish():
    assert read("{forget:forget that I live in {home:Rome}}").candidates == ()


def test_taught_rules_become_guidance_and_restrictions_never_do():
    (rule,) = read("From now on, {rule:answer in German}.").candidates
    assert (rule.kind, rule.should_do) == (Kind.STYLE_ADJUSTMENT, "Answer in German")
    (boundary,) = read("{rule:Never use emojis with me}.").candidates
    assert (boundary.kind, boundary.should_do) == (Kind.BOUNDARY, "Never use emojis with me"), "it reaches the model"
    (german,) = read("{rule:Keine Emojis bitte}.").candidates
    assert german.kind is Kind.BOUNDARY


@pytest.mark.parametrize(
    "text",
    [
        "don't keep it up with the jokes",
        "Please don't keep that to yourself",
        "don't keep me waiting",
        "don't put it in the fridge",
        "Merk dir das nicht falsch, ich meinte Dienstag",
        "No guardes el coche en el garaje",
        "ne garde pas le chien trop longtemps",
        "não guarde o carro na garagem",
        "{offrec:don't keep it simple}",
    ],
)
def test_what_only_sounds_like_off_the_record_removes_nothing(text: str):
    assert not any(one.wish == "do_not_save" for one in read(text).wishes)


@pytest.mark.parametrize(
    "text",
    [
        "Don't save this: I'm broke",
        "off the record, I hate my boss",
        "please don't keep this anywhere",
        "Bitte speichere das nicht: ich bin schwanger",
        "no guardes esto, por favor",
        "n'enregistre pas ça",
        "não guardes isso",
        "entre nous: je bois trop en ce moment, n'en garde rien",
        "Unter uns: ich habe im Lotto gewonnen, bitte nicht speichern",
    ],
)
def test_off_the_record_is_obeyed(text: str):
    assert any(one.wish == "do_not_save" for one in read(text).wishes)

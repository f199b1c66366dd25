"""The token counter against what two real tokenizers gave for the same texts."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.providers import embed_pack
from tenuto.providers.tokens import LocalTokens

# text, tokens in o200k, tokens in the last public Claude tokenizer
MEASURED = [
    ("My dad is allergic to penicillin.", 8, 9),
    ("Hey Mel! Good to see you! How have you been?", 13, 13),
    ("Thanks, Melanie! Appreciate it. You play any instruments?", 12, 15),
    ("SCREAMING CAPS TEXT OH NO WHY", 8, 11),
    ("def f(x):\n    if x is None:\n        return 0\n    return x * 2\n", 22, 20),
    ('{"role": "user", "content": "hi", "at": "2024-05-08T13:56:00Z"}', 30, 30),
    (
        "我父亲对青霉素过敏。昨天我们去了湖边，狗追着每一只鸭子跑，直到天黑。请记得下周三下午三点有牙医预约。她在上海的一家软件公司工作，喜欢喝咖啡和看老电影。中华人民共和国的经济在过去几十年里增长得非常快，但是环境污染也成为一个严重的问题。",
        85,
        131,
    ),
    ("我爸爸對盤尼西林過敏，請記得告訴醫生。週末想去淡水看夕陽，順便買一些鳳梨酥給外婆。", 42, 67),
    (
        "父はペニシリンにアレルギーがあります。昨日は湖に行って、犬が暗くなるまでカモを追いかけていました。来週の水曜日の午後三時に歯医者の予約があることを覚えておいてください。彼女は東京のソフトウェア会社で働いています。コーヒーが大好きです。",
        87,
        125,
    ),
    (
        "아버지는 페니실린 알레르기가 있습니다. 어제 우리는 호수에 갔고 개는 어두워질 때까지 오리를 쫓아다녔어요. 다음 주 수요일 오후 세 시에 치과 예약이 있다는 것을 기억해 주세요.",
        59,
        105,
    ),
    (
        "У моего отца аллергия на пенициллин. Вчера мы ездили на озеро, и собака гонялась за каждой уткой до темноты. Пожалуйста, запомни, что в среду в три часа у меня стоматолог.",
        57,
        94,
    ),
    (
        "والدي لديه حساسية من البنسلين. ذهبنا أمس إلى البحيرة وكان الكلب يطارد البط حتى حل الظلام. من فضلك تذكر موعد طبيب الأسنان يوم الأربعاء.",
        40,
        119,
    ),
    ("मेरे पिताजी को पेनिसिलिन से एलर्जी है। कल हम झील पर गए थे और कुत्ता अंधेरा होने तक बत्तखों के पीछे भागता रहा।", 42, 111),
    ("พ่อของฉันแพ้เพนิซิลลิน เมื่อวานเราไปที่ทะเลสาบและสุนัขไล่ตามเป็ดจนมืด กรุณาจำไว้ว่ามีนัดหมอฟันวันพุธ", 55, 181),
    (
        "Mein Vater ist gegen Penicillin allergisch. Gestern waren wir am See, und der Hund jagte jeder Ente hinterher, bis es dunkel wurde. Die Haftpflichtversicherungsgesellschaft hat geschrieben: Überweisung fällig, größtenteils erledigt.",
        53,
        76,
    ),
    (
        "Mon père est allergique à la pénicilline. Hier nous sommes allés au lac, et le chien a poursuivi chaque canard jusqu'à la nuit. Souviens-toi qu'il y a rendez-vous chez le dentiste.",
        49,
        63,
    ),
    ("🎉🎉🎉", 6, 9),
    ("👨\u200d👩\u200d👧\u200d👦 family time 🏖️☀️", 20, 23),
    ("🇩🇪🇫🇷 trip ✈️ next week 🎒", 16, 22),
    ("¯\\_(ツ)_/¯", 7, 10),
    (
        "0123456789" * 20,
        67,
        20,
    ),
    (
        "A1b2C3d4e5F6g7H8" * 20,
        320,
        320,
    ),
    ("\n\n\n\n\n", 1, 1),
]


@pytest.fixture(scope="module")
def tokens() -> LocalTokens:
    return LocalTokens()


@pytest.mark.parametrize(("text", "o200k", "claude"), MEASURED)
def test_never_too_few_and_not_far_too_many(tokens: LocalTokens, text: str, o200k: int, claude: int):
    counted = tokens.count(text)
    assert max(o200k, claude) - 1 <= counted
    assert o200k <= counted <= 3.2 * max(o200k, claude) + 2


def test_nothing_costs_nothing_and_anything_costs_something(tokens: LocalTokens):
    assert tokens.count("") == 0
    assert tokens.count(" ") >= 1
    assert tokens.count("\ud800") >= 1


def test_more_text_never_costs_less(tokens: LocalTokens):
    words = ("My dad is allergic to penicillin. 父はアレルギー 🎉 x = 1\n" * 4).split(" ")
    counts = [tokens.count(" ".join(words[:n])) for n in range(len(words) + 1)]
    assert counts == sorted(counts)


def test_a_second_count_is_the_same_and_keeps_no_text(tokens: LocalTokens):
    first = tokens.count("Anna's number is 0170 1234567")
    assert tokens.count("Anna's number is 0170 1234567") == first
    assert not any("Anna" in str(key) for key in tokens._costs)


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tenuto.providers.tokens._CACHED", 10)
    fresh = LocalTokens()
    for n in range(100):
        fresh.count(f"text {n}")
    assert len(fresh._costs) <= 10


def test_many_threads_count_alike(tokens: LocalTokens):
    fresh, results = LocalTokens(), []
    expected = [tokens.count(text) for text, _, _ in MEASURED]

    def work() -> None:
        results.append([fresh.count(text) for text, _, _ in MEASURED])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def pieces(text: str) -> int:
    return len(embed_pack.tokenizer().encode(text, add_special_tokens=False).ids)


@given(st.lists(st.sampled_from(["Hello World", "  ", "\t", "\n", "\r\n", "x" * 120, "don't", "A\tB", "end.", "#1"])))
def test_no_piece_reaches_over_a_line_break(parts):
    text = "".join(parts)
    assert pieces(text) == sum(map(pieces, text.split("\n"))), "lines can be counted one by one"

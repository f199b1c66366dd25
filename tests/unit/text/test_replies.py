"""Whose words are whose in a mail's body, in the shapes that mail programs write."""

from __future__ import annotations

import contextlib
import time

import pytest

from tenuto.errors import InputError
from tenuto.text import html, mail
from tenuto.text.replies import split

EARLIER = [
    "On Mon, Mar 4, 2024 at 10:00 AM Ben <b@x.org> wrote:\n> Please wire 500 euros.",
    "On Mon, Mar 4, 2024 at 10:00 AM Benjamin Longname-Doublename\n<benjamin@example.org> wrote:\n\n> Please wire",
    "On Monday Ben wrote:\n\n> Please wire 500 euros.",
    "Am 04.03.2024 um 10:00 schrieb Ben <b@x.org>:\n> Please wire",
    "Am Mo., 4. März 2024 um 10:00 Uhr schrieb Ben <b@x.org>:\nPlease wire",
    "Le lun. 4 mars 2024 à 10:00, Ben <b@x.org> a écrit :\n> Please wire",
    "Il giorno lun 4 mar 2024 alle ore 10:00 Ben <b@x.org> ha scritto:\n> Please wire",
    "El lun, 4 mar 2024 a las 10:00, Ben (<b@x.org>) escribió:\n> Please wire",
    "Em seg., 4 de mar. de 2024 às 10:00, Ben <b@x.org> escreveu:\n> Please wire",
    "Op ma 4 mrt 2024 om 10:00 schreef Ben <b@x.org>:\n> Please wire",
    "pon., 4 mar 2024 o 10:00 Ben <b@x.org> napisał(a):\n> Please wire",
    "Den mån 4 mars 2024 kl 10:00 skrev Ben <b@x.org>:\n> Please wire",
    "2024-03-04 10:00 GMT+01:00 Ben <b@x.org>:\n> Please wire",
    "From: Ben <b@x.org>\nSent: Monday, March 4, 2024 10:00 AM\nTo: Ana\nSubject: Money\n\nPlease wire",
    "*From:* Ben <b@x.org>\n*Sent:* Monday\n*To:* Ana\n\nPlease wire",
    "Von: Ben <b@x.org>\nGesendet: Montag\nAn: Ana\nBetreff: Geld\n\nPlease wire",
    "De : Ben <b@x.org>\nEnvoyé : lundi\nÀ : Ana\n\nPlease wire",
    "-----Original Message-----\nFrom: Ben\nPlease wire",
    "-----Ursprüngliche Nachricht-----\nVon: Ben\nPlease wire",
    "---------- Forwarded message ---------\nFrom: Ben\nPlease wire",
    "________________________________\nFrom: Ben\nPlease wire",
    "Begin forwarded message:\n\nFrom: Ben\n\nPlease wire",
    "> Please wire 500 euros.",
    ">Please wire 500 euros.\n>> and more",
]


@pytest.mark.parametrize("earlier", EARLIER)
@pytest.mark.parametrize("own", ["Sure, I will be there at 12.\nI moved to Porto.", ""])
def test_what_an_earlier_mail_said_is_not_the_senders(own: str, earlier: str):
    mine, quoted, _ = split(f"{own}\n\n{earlier}\n")
    assert mine == own
    assert "lease wire" in quoted
    windows, _, _ = split(f"{own}\n\n{earlier}\n".replace("\n", "\r\n"))
    assert windows == own


@pytest.mark.parametrize(
    ("body", "own"),
    [
        ("See you.\n\n-- \nAna B\nChief Gardener", "See you."),
        ("See you.\n\nBest regards,\nAna B\n+39 06 1234", "See you."),
        ("Bis dann.\n\nViele Grüße\nAna", "Bis dann."),
        ("Bis dann.\n\nMit freundlichen Grüssen\nAna Muster", "Bis dann."),
        ("See you.\n\nSent from my iPhone", "See you."),
        ("See you.\n\n- Ana", "See you."),
        ("Thanks, I moved to Rome.\nMy new job starts on Monday.", None),
        (
            "Thanks,\nI moved to Rome, where I have a new job at an old company that makes and sells handmade paper.",
            None,
        ),
        ("What I need:\n- milk\n- bread and butter", None),
        ("On Monday I wrote a letter: it was long.", None),
        ("On 3 May I start at Helio Maps.\nShe wrote: never again.", None),
        ("From: my heart, thank you for the flowers.", None),
        ("Am Montag fange ich an.", None),
    ],
)
def test_signatures_go_and_own_words_stay(body: str, own: str | None):
    mine, quoted, _ = split(body)
    assert mine == (body if own is None else own) and not quoted


HOSTILE = {
    "newlines": "\n" * 60_000,
    "spaces": " " * 60_000,
    "on": "On " * 20_000,
    "on lines": "On 3\n" * 12_000,
    "wrote": "On 1 wrote: " * 5_000,
    "greater": "> " * 30_000,
    "greater lines": ">\n" * 30_000,
    "blank then quote": "a\n" + "\n" * 30_000 + ">" + "\n>" * 10_000,
    "from": "From: a\n" * 8_000,
    "dashes": "-" * 60_000,
    "underscores": "_\n" * 30_000,
    "best": "Best\n" * 12_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_body_is_slow_to_take_apart(name: str):
    started = time.process_time()
    split(HOSTILE[name])
    assert time.process_time() - started < 2


HEAD = b"From: a@example.org\r\nDate: Mon, 4 Mar 2024 10:00:00 +0100\r\n"
MAILS = {
    "newlines": HEAD + b"\r\n" + b"\n" * 60_000,
    "long header": b"From: " + b"a@b, " * 12_000 + b"\r\n\r\nx",
    "quotes in a header": b"From: " + b'"' * 60_000 + b"\r\n\r\nx",
    "comments in a header": b"From: " + b"(" * 60_000 + b"\r\n\r\nx",
    "encoded words": b"Subject: " + b"=?utf-8?q?a?= " * 5_000 + b"\r\nFrom: a@b.c\r\n\r\nx",
    "many headers": b"X: y\r\n" * 10_000 + HEAD + b"\r\nx",
    "punycode": HEAD + b"Content-Type: text/plain; charset=punycode\r\n\r\n" + b"a-" + b"9" * 60_000,
    "html": HEAD + b"Content-Type: text/html\r\n\r\n" + b"<div " * 13_000,
    "html closed": HEAD + b"Content-Type: text/html\r\n\r\n" + b"<div></b>" * 7_000,
    "html comments": HEAD + b"Content-Type: text/html\r\n\r\n" + b"<!--" * 16_000,
}


@pytest.mark.parametrize("name", MAILS)
def test_no_mail_is_slow_to_read(name: str):
    started = time.process_time()
    with contextlib.suppress(InputError):
        mail.read(MAILS[name])
    assert time.process_time() - started < 2


def test_a_mail_of_parts_within_parts_is_refused():
    head, body = b"", b""
    for number in range(600):
        body += b'--%d\r\nContent-Type: multipart/mixed; boundary="%d"\r\n\r\n' % (number, number + 1)
        head = b'From: a@b.c\r\nContent-Type: multipart/mixed; boundary="0"\r\n\r\n'
    with pytest.raises(InputError, match="parts"):
        mail.read(head + body + b"x\r\n" * 5_000)


def test_what_a_browser_would_not_show_is_not_text():
    page = (
        "<head><title>t</title></head>a<script>b</script><style>c</style><template>d</template><p>e&amp;f</p><!--g-->"
    )
    assert html.to_text(page) == "a\ne&f"
    assert html.to_text("<ul><li>one<li>two</ul>") == "- one\n- two"
    assert html.to_text("a<br/>b<svg/>c <b title='x>y'>d</b>") == "a\nbc d"

"""Obligations that are said in so many words ("I need to …", "ich muss …", "tengo que …"), where the reader marks none. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenuto.text import patterns

LONGEST = 160
"""Characters of an obligation."""
_ENGLISH = (
    r"(?:^|[,;:(–—-]\s*|\b(?:and|but|so|because|that|ok|also|still|really|btw|then|n|oh|plus)\s+)"
    r"(?:(?:i|we)(?:'ve|’ve| have|'ll|’ll| will)? ?(?:still |really |also |just |definitely )?)?"
    r"(?:need to|needs to be|have to|has to be|got to|gotta|must|should|ought to|mustn't forget to|can't forget to|"
    r"(?:must )?remember to|am supposed to|was meant to|promised to)\s+(?:still |also |really |finally )?(?P<what>[a-z][^!?;\n]+)"
)
_SAID_SO = {
    "en": patterns.compile(_ENGLISH, "i"),
    "de": patterns.compile(
        r"\b(?:ich muss|wir müssen|muss (?:ich|noch)|ich sollte|ich soll)\s+(?:noch |unbedingt |dringend |auch )*(?P<what>[^!?;\n]+)",
        "i",
    ),
    "es": patterns.compile(
        r"\b(?:tengo que|tenemos que|hay que|debo|me falta|necesito)\s+(?P<what>\w+(?:ar|er|ir)\w{0,3}\b[^!?;\n]*)",
        "i",
    ),
    "fr": patterns.compile(
        r"\b(?:je dois|on doit|nous devons|il faut(?: que je)?|faut(?: que je)?)\s+(?P<what>[^!?;\n]+)", "i"
    ),
    "pt": patterns.compile(
        r"\b(?:tenho (?:de|que)|temos (?:de|que)|preciso(?: de)?|devo|falta-me)\s+(?P<what>\w+(?:ar|er|ir|or)\w{0,3}\b[^!?;\n]*)",
        "i",
    ),
}
_NO_TASK = patterns.compile(
    r"^(?:say|admit|agree|be|confess|laugh|tell you|know|think|see|wonder|wait|live with|deal with|have|go through|feel|believe|"
    r"understand|accept|stop|cope|look|hear|talk about|get used|get up|wake|work|sein|sagen|wissen|warten|lachen|decir|saber|"
    r"esperar|reconocer|ser|estar|dire|savoir|attendre|être|avouer|dizer|saber|esperar|ser|estar|admitir)\b",
    "i",
)
"""What is said to be necessary and is no task."""
_END = patterns.compile(
    r",?\s(?:because|cos|cuz|since|but|although|though|which|otherwise|or else|aber|weil|sonst|porque|pero|mais|sinon|parce|mas|senão)\s|\s[–—-]\s|[()]",
    "i",
)
"""Where the obligation ends and its reason begins."""
_NOT_MEANT = patterns.compile(
    r"\?|\b(?:if|don't|do not|didn't|doesn't|never|wenn|falls|nicht|si|não|no|ne|pas)\b[^,;:]{0,40}$", "i"
)


def plain_todos(text: str, spans: Sequence[tuple[int, int]], language: str) -> Iterator[tuple[int, int]]:
    """Where the obligations of a message stand that it says in so many words: the words behind "I need to"."""
    pattern = _SAID_SO.get(language, _SAID_SO["en"])
    for first, last in spans:
        sentence = text[first:last].replace("’", "'")
        if sentence.rstrip().endswith("?"):
            continue
        match = pattern.search(sentence)
        if match is None or _NO_TASK.match(match["what"]) or _NOT_MEANT.search(sentence[: match.start("what")]):
            continue
        start, end = match.span("what")
        cut = _END.search(sentence, start)
        end = min(end, cut.start() if cut else end, start + LONGEST)
        if len(sentence[start:end].split()) >= 2:
            yield first + start, first + end

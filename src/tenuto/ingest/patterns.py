"""The pieces that attribute rules are written with: subjects, places, names, and how a value is cut off.

``expand`` turns ``{S}`` and its like into groups. Names are matched with their capital letters, everything else without
regard to case. Every repetition is bounded, so that no clause can make a pattern run away.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tenuto.ingest.lexicon import shipped, word_list

COUNT = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    r"seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|"
    r"three|four|five|six|seven|eight|nine))?)"
)
PET = (
    r"(?:dog|dogs|puppy|puppies|cat|cats|kitten|kittens|hamster|rabbit|bunny|parrot|bird|fish|goldfish|horse|"
    r"pony|turtle|tortoise|snake|lizard|guinea pig|guinea pigs|ferret|hedgehog|pet|pets|pup|pups|doggy|gecko|"
    r"chickens|labrador|poodle|beagle|golden retriever|german shepherd|husky|corgi|bulldog|dachshund|chihuahua|"
    r"terrier|pug|collie)"
)
FOOD = (
    r"(?:(?:raw|red|processed|fried|spicy|dairy|cow's|added|white|fast|junk) )?(?:meat|fish|pork|beef|chicken|"
    r"seafood|shellfish|dairy|milk|cheese|gluten|wheat|bread|sugar|alcohol|caffeine|coffee|eggs|nuts|peanuts|"
    r"soy|salt|sushi|carbs|mushrooms|onions|garlic|tomatoes|cilantro|food|foods|soda|beer|wine|sweets|"
    r"chocolate|lactose|lamb|bacon|grapefruit|bananas|shrimp)"
)
LANGUAGE = (
    r"(?-i:English|Spanish|French|German|Italian|Portuguese|Chinese|Mandarin|Cantonese|Japanese|Korean|Russian|"
    r"Arabic|Hindi|Urdu|Bengali|Punjabi|Tamil|Telugu|Turkish|Persian|Farsi|Dutch|Swedish|Norwegian|Danish|"
    r"Finnish|Polish|Czech|Hungarian|Romanian|Greek|Hebrew|Ukrainian|Vietnamese|Thai|Indonesian|Malay|Tagalog|"
    r"Swahili|Catalan|Irish|Welsh|Latin|Esperanto|Croatian|Serbian|Bulgarian|ASL|sign language)"
)
DEMONYM = (
    r"(?-i:American|British|English|Scottish|Welsh|Irish|Canadian|Australian|Indian|Mexican|Brazilian|Chinese|"
    r"Japanese|Korean|German|French|Italian|Spanish|Portuguese|Dutch|Swedish|Norwegian|Danish|Finnish|Polish|"
    r"Russian|Ukrainian|Turkish|Greek|Egyptian|Nigerian|Kenyan|South African|Argentinian|Colombian|Chilean|"
    r"Peruvian|Cuban|Filipino|Vietnamese|Thai|Indonesian|Pakistani|Bangladeshi|Iranian|Iraqi|Israeli|Lebanese|"
    r"Syrian|Moroccan|Ethiopian|Ghanaian|Jamaican|Haitian|Puerto Rican|Dominican|Austrian|Swiss|Belgian|Czech|"
    r"Hungarian|Romanian|Bulgarian|Serbian|Croatian|New Zealander|Kiwi|Latina|Latino|Taiwanese|Singaporean|"
    r"Malaysian|Nepali)"
)
NAME = r"(?-i:[A-Z][a-zà-ÿ]+(?:[ -][A-Z][a-zà-ÿ]+){0,2})"
PLACE = (
    r"(?:(?:the |a |an |downtown |central |north |south |east |west |northern |southern "
    r")*)(?-i:[A-Z][\w.'-]*(?:,? (?:of |the |on |de |la )?[A-Z][\w.'-]*){0,4})"
)
ORG = (
    r"(?:(?-i:[A-Z][\w&.'-]*(?: (?:of |and |& |the )?[A-Z][\w&.'-]*){0,4})|(?:(?:an?|the|my|our|this|some) "
    r"(?:[\w-]+ ){0,3}?(?:company|startup|start-up|firm|school|hospital|bank|agency|studio|university|college|"
    r"store|shop|restaurant|cafe|clinic|nonprofit|charity|shelter|library|museum|government|office|factory|"
    r"warehouse|law firm|newspaper|magazine|lab|hotel|acquirer|bakery|bookstore|call center|nursery|"
    r"kindergarten|church|gallery)\b))"
)
_BE = r"(?:'m|'s|'re| am| is| are| was| were|'ve been| have been| has been|m(?= ))"
_HAVE = r"(?:'ve| have| has| had|'s|'d)"
_ADVERBS = (
    r"(?:(?: (?:really|actually|currently|now|just|also|still|recently|finally|already|both|all|always|usually|"
    r"officially|permanently|definitely|mostly|"
    r"originally|sadly|unfortunately|very|so|absolutely|totally|exclusively|only|mainly|often|sometimes|even|"
    r"severely|mildly|deathly|highly|technically|proudly|happily|basically|"
    r"gladly|quite|truly|soon|kinda|extremely|secretly|personally|seriously|pretty much|kind of|sort of|"
    r"literally|apparently|lately|no longer|generally|normally|typically|too|generally))*)"
)
_NOT = (
    r"(?P<n>(?: not| never| do not| don't| does not| doesn't| did not| didn't|n't| no longer| can't| cannot| "
    r"won't| haven't| hasn't| have never| has never|'ve never|"
    r" am not| isn't| aren't| is not| are not| wasn't))?"
)
ROLE_ENDING = re.compile(
    r"(?:ologist|ographer|ist|ician|keeper|maker|worker|writer|teacher|trainer|manager|engineer|developer|"
    r"designer|director|officer|analyst|assistant|consultant|specialist|programmer|therapist|instructor|"
    r"producer|editor|lawyer|nurse|scientist|architect|owner|founder|coordinator|administrator|supervisor|"
    r"technician|representative|rep|ranger|agent|chef|driver|student|dancer|singer|player)$"
)
NOT_ROLES = word_list("not_roles")
NOT_PLACES = word_list("not_places")
NOT_PEOPLE = word_list("not_people")
NOT_EMPLOYERS = word_list("not_employers")
NOT_ATTRIBUTES = word_list("not_attributes")
VAGUE = re.compile(
    r"(?:it|that|this|them|those|these|you|him|her|us|me|one|ones|everything|something|nothing|anything|stuff|"
    r"things?|the (?:idea|way|fact|thought|sound|look|feeling)|your|what|how|when|being able|doing (?:it|that|"
    r"this)|both|all of (?:it|them)|to do (?:it|that)|some|more|a lot|so much|most|seeing you|talking to you|"
    r"hearing)\b(?! (?:game|dog|cat|movie|book|song|place|kind|type|food|music|sport|season))",
    re.I,
)
EMPTY_PLAN = re.compile(
    r"(?:see|list|know|understand|look at|discuss|review|go over|focus on (?:this|that|the)|get started|start "
    r"with|make sure|lock down|hit the ground|be (?:fine|ok|okay|there|back|honest|here|right|great|good|able|"
    r"careful|with you|happy|fun|awesome|"
    r"amazing|nice|sure|interesting)|say|tell you|let you|know|see (?:you|how|what|if|it|that|them|more)|hear|"
    r"think about (?:it|that)|ask you|thank you|have to (?:say|go|admit)|do (?:it|that|this|so|my best)|try "
    r"(?:it|that|them|this|my best)|check (?:it|that|this|them|out)|keep (?:you|that|it|in mind|going|at it|"
    r"doing)|give (?:it|that) a|look into (?:it|that)|remember (?:that|this|it)|get (?:it|that|there)|make it|"
    r"love (?:it|that)|definitely|never forget|miss you|share (?:it|that|this|them) with you|show you|chat|"
    r"talk (?:to you|soon|later|about it)|support you|help you|you\b|it\b|that\b|this\b|them\b|sleep on it|go "
    r"now|take (?:it|that)|for sure|catch up|get through (?:it|this|that)|join you|meet you|call you|text you|"
    r"send you|need (?:it|that)|work out (?:well|fine)|happen|be patient|start (?:it|that)|continue)\b",
    re.I,
)

_CUTTING = (
    r"\s*(?:[;!?…]|(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bmrs)(?<!\bst)\.(?=\s|$)|,? (?:and|but|so|because|since|"
    r"which|while|although|though|when|whenever|where|who|as|except|after|before|until|if|until|'cause|cause|"
    r"cuz|even though|so that|and so) (?=(?:i|i'm|i've|i'll|we|we're|my|our|he|she|it|it's|they|that|this|then|"
    r"am|was|is|are|have|had|can't|now|moved|work|live|the|there|just|also|want|never|been|going|got|for|you|"
    r"eat|eats)\b)|__COMMA__"
    r" (?:because|since|although|though|which|while|even though|'cause|cuz|except|whenever|unless|btw|by the "
    r"way|lol|haha|right now|these days|nowadays|at the moment|any ?more|as well|too|instead|though|for sure|"
    r"with my (?:wife|husband|kids|family|partner)|so much|very much|a lot|the most|anyway)\b| [-–—(]).*$"
)
_CUT_LISTS = re.compile(_CUTTING.replace("__COMMA__", ""), re.I)
_CUT = re.compile(_CUTTING.replace("__COMMA__", r", (?=\w)|"), re.I)
_TAIL = re.compile(
    r"(?: (?:on|in|at|by|since|from|until|for|last|next|this|every|about|around))? ?\b(?:yesterday|today|"
    r"tonight|tomorrow|last (?:week|month|year|night|weekend|spring|summer|fall|autumn|winter|january|february|"
    r"march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|"
    r"friday|saturday|sunday)|"
    r"next (?:week|month|year|weekend|spring|summer|fall|autumn|winter|\w+day)|this (?:week|month|year|weekend|"
    r"spring|summer|fall|autumn|winter|morning|term|semester|january|february|march|april|may|june|july|august|"
    r"september|october|november|december)|(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|\d+|a few|"
    r"a couple of|several) (?:days?|weeks?|months?|years?) (?:ago|back)|"
    r"(?:in|since|until|from) (?:19|20)\d\d|for (?:the (?:past|last) )?(?:a|an|one|two|three|four|five|six|"
    r"seven|eight|nine|ten|\d+|a few|a couple of|many|over \w+|about \w+|almost \w+) (?:days?|weeks?|months?|"
    r"years?|decades?)(?: now)?|in (?:january|february|march|april|may|june|july|august|september|october|"
    r"november|december)|recently|lately|now|again|already|forever|as of \w+|"
    r"on (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday))[ .,!]*$",
    re.I,
)


@lru_cache(maxsize=1)
def _subject() -> str:
    relations = "|".join(sorted((re.escape(word) for word in shipped().relations), key=len, reverse=True))
    groups = "|".join(shipped().groups)
    adjective = (
        r"(?:(?:new|old|late|eldest|oldest|youngest|younger|older|little|big|best|good|close|dear|other|middle|"
        r"former|twin) ){0,2}"
    )
    relative = rf"(?:my|our) (?:{adjective}(?:{relations}|{groups}))(?:,? {NAME},?)?"
    return (
        rf"(?:(?<![\w'])(?P<s>{relative}|(?:i|we|he|she|they)(?=[' ])|(?-i:Mom|Mum|Dad|Mama|Papa|Grandma|"
        rf"Grandpa|Granny|Nana)|"
        rf"(?-i:(?!(?:I|The|This|That|It|We|He|She|They|My|Our|But|And|So|What|There|Here|If|When|Since|Because|While|"
        rf"Although|Unless|Whether|Once|Also|For|In|On|At|After|Before|With|To|From|As|Yes|No|Oh|Now|Then|Both)\b)){NAME}"
        rf"(?:, (?:my|our) (?:{adjective}(?:{relations})),?)?)(?: and i| both)?)"
    )


@lru_cache(maxsize=1)
def _vital() -> tuple[tuple[str, str], ...]:
    """The pieces that only the vital rules use: whose, whom, someone, what may stand after a subject."""
    relations = "|".join(sorted((re.escape(word) for word in shipped().relations), key=len, reverse=True))
    groups = "|".join(shipped().groups)
    adjective = (
        r"(?:(?:new|old|late|eldest|oldest|youngest|younger|older|little|big|best|good|close|dear|other|middle|"
        r"former|twin|poor|only|own|elderly) ){0,2}"
    )
    called = r"(?-i:Mom|Mum|Dad|Mama|Papa|Grandma|Grandpa|Granny|Nana)"
    relative = rf"(?:my|our) {adjective}(?:{relations}|{groups})\b"
    someone = rf"(?:{relative}(?:,? {NAME})?|{called}|(?-i:(?:Dr|Mr|Mrs|Ms)\.? )?{NAME})"
    body = r"(?:face|lips|throat|skin|eyes|tongue|mouth|body|arms?|hands?)"
    known = sorted((re.sub(r"^an? ", "", name) for name in shipped().conditions), key=len, reverse=True)
    ill = "|".join(re.escape(name) for name in known if len(name) > 3 or name in ("ibs", "ocd", "hiv"))
    return (
        ("V", _subject() + r"(?:, [^,;:.!?]{1,40},)?(?:,?(?= who\b))?"),
        (
            "WHOSE",
            rf"(?<![\w'])(?P<s>{relative}(?:,? {NAME})?'s?|{called}'s|(?-i:(?!(?:It|What|That|Here|There|Let)\b))"
            rf"{NAME}'s|my|our|his|her|their) ",
        ),
        ("WHOM", rf"(?P<s>(?:my|his|her) {body}\b|me|him|her|us|them|{someone})"),
        ("SOMEONE", someone),
        ("LIST", r"[^;:!?()]{2,200}"),
        (
            "SEVERE",
            r"(?:(?:really |very )?(?:severe|bad|mild|serious|deadly|slight|life-threatening|terrible|strong|horrible|"
            r"nasty|known|lifelong|chronic|worsening|advanced|early) )*",
        ),
        ("ILL", rf"(?:{ill})"),
    )


def expand(pattern: str) -> str:
    """A rule's pattern with its pieces filled in; a group that occurs again gets a number."""
    pattern = pattern.replace("{{", "\x01").replace("}}", "\x02")
    for name, piece in (
        *_vital(),
        ("S", _subject()),
        ("A", _ADVERBS),
        ("N", _NOT),
        ("BE", _BE),
        ("HAVE", _HAVE),
        ("NAME", NAME),
        ("PLACE", PLACE),
        ("ORG", ORG),
        ("COUNT", COUNT),
        ("PET", PET),
        ("FOOD", FOOD),
        ("LANGUAGE", LANGUAGE),
        ("DEMONYM", DEMONYM),
    ):
        pattern = pattern.replace("{" + name + "}", piece)
    seen: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        seen[match[1]] = seen.get(match[1], 0) + 1
        return match[0] if seen[match[1]] == 1 else f"(?P<{match[1]}{seen[match[1]]}>"

    return re.sub(r"\(\?P<([a-z]+)>", numbered, pattern.replace("\x01", "{").replace("\x02", "}"))


_CONTRACTION = re.compile(
    r"(?<=\b[Ii])'m\b|(?<=\b[Ww]e)'re\b|(?<=\b[Tt]hey)'re\b|(?<=\b[Ii])'ve\b|(?<=\b[Ww]e)'ve\b|(?<=\b[Tt]hey)'ve\b"
)
_FULL = {"'m": " am", "'re": " are", "'ve": " have"}


def uncontracted(clause: str) -> str:
    """ "I'm" as "I am": rules need one spelling only. What "'s" and "'d" stand for is left to them."""
    return _CONTRACTION.sub(lambda match: _FULL[match.group()], clause)


def trimmed(value: str, *, commas: bool = False) -> str:
    """The value alone: cut where another clause, an aside, a time or (unless ``commas``) a list begins."""
    value = value.strip(" .,!?;:\"'")
    previous = None
    while value != previous:
        previous = value
        value = (_CUT_LISTS if commas else _CUT).sub("", value).strip(" .,!?;:\"'")
        value = _TAIL.sub("", value).strip(" .,!?;:\"'")
    return " ".join(value.split()[:14])


def listed(value: str) -> list[str]:
    """The parts of "peanuts, shellfish and eggs"; one part when it is no list."""
    parts = [part.strip() for part in re.split(r",\s*(?:and |or )?|\s+(?:and|or|&)\s+", value) if part.strip()]
    return parts if 1 < len(parts) <= 8 and all(len(part.split()) <= 3 for part in parts) else [value]

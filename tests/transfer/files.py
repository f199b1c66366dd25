"""Small examples of every format, built as the programs that write them do."""

import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

CHATGPT = [
    {
        "id": "conv-1",
        "title": "Penicillin",
        "create_time": 1700000000.5,
        "current_node": "n5",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["n1"]},
            "n1": {
                "message": {
                    "id": "m1",
                    "author": {"role": "user"},
                    "create_time": 1700000001.0,
                    "content": {"content_type": "text", "parts": ["My dad is allergic to penicillin."]},
                    "metadata": {"attachments": [{"name": "rx.pdf", "mime_type": "application/pdf"}]},
                },
                "parent": "root",
                "children": ["n2", "n3"],
            },
            "n2": {
                "message": {
                    "id": "m2",
                    "author": {"role": "assistant"},
                    "create_time": 1700000002.0,
                    "content": {"content_type": "text", "parts": ["A thrown away answer."]},
                },
                "parent": "n1",
                "children": [],
            },
            "n3": {
                "message": {
                    "id": "m3",
                    "author": {"role": "assistant"},
                    "create_time": 1700000003.0,
                    "content": {
                        "content_type": "thoughts",
                        "thoughts": [{"summary": "s", "content": "Be careful here."}],
                    },
                },
                "parent": "n1",
                "children": ["n4"],
            },
            "n4": {
                "message": {
                    "id": "m4",
                    "author": {"role": "assistant"},
                    "create_time": None,
                    "content": {"content_type": "text", "parts": ["Then amoxicillin is out too."]},
                    "metadata": {"model_slug": "gpt-4o"},
                },
                "parent": "n3",
                "children": ["n5"],
            },
            "n5": {
                "message": {
                    "id": "m5",
                    "author": {"role": "user"},
                    "create_time": 1700090000.0,
                    "content": {
                        "content_type": "multimodal_text",
                        "parts": [{"asset_pointer": "x"}, "And azithromycin?"],
                    },
                },
                "parent": "n4",
                "children": [],
            },
        },
    }
]

CLAUDE = [
    {
        "uuid": "c-1",
        "name": "Garden",
        "created_at": "2025-02-03T10:00:00.000000Z",
        "chat_messages": [
            {
                "uuid": "cm-1",
                "sender": "human",
                "text": "When do I plant tomatoes?",
                "content": [{"type": "text", "text": "When do I plant tomatoes?"}],
                "created_at": "2025-02-03T10:00:01Z",
                "files": [{"file_name": "bed.jpg"}],
            },
            {
                "uuid": "cm-2",
                "sender": "assistant",
                "text": "",
                "content": [
                    {"type": "thinking", "thinking": "They live in Rome."},
                    {"type": "text", "text": "After the last frost."},
                ],
                "created_at": "2025-02-03T10:00:09Z",
            },
        ],
    }
]

GEMINI = [
    {
        "header": "Gemini Apps",
        "title": "Prompted What is a fugue?",
        "time": "2025-05-01T08:00:00.123Z",
        "products": ["Gemini Apps"],
        "safeHtmlItem": [{"html": "<p>A <b>fugue</b> is a piece.</p><ul><li>subject</li></ul>"}],
    }
]

WHATSAPP = (
    "[12/03/2024, 09:15:01] \u200eMessages and calls are end-to-end encrypted.\n"
    "[12/03/2024, 09:15:02] Ana: Buongiorno!\n"
    "[12/03/2024, 09:16:00] Ben: Morning. Two lines:\nhere is the second\n"
    "[12/03/2024, 09:17:00] Ben: \u200eimage omitted\n"
    "[13/03/2024, 18:00:00] Ana: Dinner at eight: my place\n"
)

TELEGRAM = {
    "about": "x",
    "personal_information": {"user_id": 42, "first_name": "Ana"},
    "chats": {
        "list": [
            {
                "name": "Ben",
                "type": "personal_chat",
                "id": 7,
                "messages": [
                    {"id": 1, "type": "service", "date": "2024-01-01T10:00:00", "action": "x"},
                    {
                        "id": 2,
                        "type": "message",
                        "date": "2024-01-01T10:00:00",
                        "date_unixtime": "1704103200",
                        "from": "Ana",
                        "from_id": "user42",
                        "text": ["see ", {"type": "link", "text": "https://example.org"}],
                    },
                    {
                        "id": 3,
                        "type": "message",
                        "date_unixtime": "1704103260",
                        "from": "Ben",
                        "from_id": "user9",
                        "text": "ok",
                        "reply_to_message_id": 2,
                    },
                ],
            }
        ]
    },
}

SMS = """<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
<smses count="3">
  <sms protocol="0" address="+390612345678" date="1577869261000" type="1"
    body="Happy new year &#55357;&#56842;" contact_name="Ben" />
  <sms protocol="0" address="+390612345678" date="1577869291000" type="2"
    body="You too &amp; yours" contact_name="Ben" />
  <mms date="1577869391000" msg_box="1" address="+390612345678" contact_name="Ben"><parts>
    <part ct="image/jpeg" text="null" /><part ct="text/plain" text="a picture" /></parts></mms>
</smses>
"""

MAIL = b"""From ben@example.org Mon Mar  4 10:00:00 2024
From: Ben <ben@example.org>
To: Ana <ana@example.org>
Subject: Lunch
Date: Mon, 4 Mar 2024 10:00:00 +0100
Message-ID: <one@example.org>

Lunch on Friday?

From ana@example.org Mon Mar  4 11:00:00 2024
From: Ana <ana@example.org>
To: Ben <ben@example.org>
Subject: Re: Lunch
Date: Mon, 4 Mar 2024 11:00:00 +0100
Message-ID: <two@example.org>
In-Reply-To: <one@example.org>
References: <one@example.org>

Yes, at one. I do not eat fish.

On Mon, Mar 4, 2024 at 10:00 AM Ben <ben@example.org> wrote:
> Lunch on Friday?

"""

MEM0 = {
    "results": [
        {
            "id": "a1",
            "memory": "Likes hiking",
            "hash": "h",
            "user_id": "ana",
            "created_at": "2024-05-01T00:00:00-07:00",
            "categories": ["preferences"],
        }
    ]
}
LANGMEM = [
    {
        "namespace": ["memories", "ana"],
        "key": "k1",
        "value": {"kind": "Memory", "content": {"content": "Prefers dark mode"}},
        "created_at": "2024-06-01T00:00:00Z",
    },
    {"namespace": ["profile"], "key": "k2", "value": {"kind": "Profile", "content": {"name": "Ana", "age": 40}}},
]
LETTA = {
    "agents": [
        {
            "id": "agent-0",
            "name": "sam",
            "messages": [
                {
                    "id": "message-0",
                    "role": "user",
                    "content": [{"type": "text", "text": "hi sam"}],
                    "created_at": "2024-07-01T00:00:00Z",
                }
            ],
        }
    ],
    "blocks": [{"id": "b", "label": "human", "value": "Name: Ana\nHas a dog"}],
}
ZEP = {
    "edges": [
        {
            "uuid": "e1",
            "fact": "Ana lives in Rome",
            "created_at": "2024-01-01T00:00:00Z",
            "valid_at": "2020-01-01T00:00:00Z",
            "invalid_at": None,
        },
        {
            "uuid": "e2",
            "fact": "Ana lives in Oslo",
            "created_at": "2024-01-01T00:00:00Z",
            "valid_at": "2010-01-01T00:00:00Z",
            "invalid_at": "2020-01-01T00:00:00Z",
        },
    ]
}
SOSTENUTO = {
    "sessions": [{"id": 1, "external_session_id": "s-1", "headline": "First day"}],
    "messages": [
        {
            "id": "u-1",
            "session_id": 1,
            "role": "assistant",
            "content": "Hello again",
            "thinking": "She is tired.",
            "created_at": "2025-01-01T00:00:00+00:00",
        }
    ],
    "memory_objects": [
        {
            "id": 5,
            "domain": "user_self",
            "type": "preference",
            "content": "Likes rain",
            "should_do": "mention rain",
            "confidence": 0.8,
            "usage_guidance": {"salience": 0.9, "proactive_use": "no", "valence": 0.5},
            "created_at": "2025-01-02T00:00:00+00:00",
        }
    ],
    "user_profile": {"content": "A gardener.", "last_refreshed": "2025-02-01T00:00:00Z"},
}
ACCOUNT = """Of course! Here is the account:

```json
{"tenuto_account": 1, "from": "Helper",
 "health_and_safety": [{"text": "Allergic to peanuts", "importance": 10, "sure": "said"}],
 "people": [{"name": "Mara", "relation": "sister", "text": "lives in Bergen", "importance": 7, "when": "2024-01-05"}],
 "preferences": ["short answers"]}
```
Let me know!"""
JSONL = (
    '{"id": "x1", "role": "user", "content": "hello there", "at": "2024-01-01T10:00:00Z", "thread": "t"}\n'
    '{"id": "x2", "role": "assistant", "content": "hi", "at": "2024-01-01T10:00:05Z", "thread": "t", '
    '"thinking": "greet"}\n'
    "not json\n"
    '{"id": "x3", "role": "alien", "content": "zap", "at": "2024-01-01T10:00:06Z"}\n'
    '{"messages": [{"role": "user", "content": "nested"}], "id": "t9", "created_at": "2024-02-01T00:00:00Z"}\n'
)
CSV = 'Date;Speaker;Text\n2024-01-01 10:00;Ana;ciao\n2024-01-01 10:01;Ben;"two\nlines"\n'
SLACK = {
    "users.json": [
        {"id": "U1", "name": "ana", "profile": {"real_name": "Ana B", "email": "ana@example.org"}},
        {"id": "U2", "name": "ben", "real_name": "Ben"},
    ],
    "channels.json": [{"id": "C1", "name": "general"}],
    "general/2024-01-02.json": [
        {
            "type": "message",
            "user": "U1",
            "text": "hi <@U2> &amp; all, see <https://x.org|this>",
            "ts": "1704189600.000100",
        },
        {"type": "message", "subtype": "channel_join", "user": "U2", "text": "joined", "ts": "1704189601.0"},
        {"type": "message", "user": "U2", "text": "yo", "ts": "1704189700.000200", "thread_ts": "1704189600.000100"},
    ],
}


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def zipped(path: Path, files: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, (str, bytes)) else json.dumps(content))
    return path


def chat_db(path: Path) -> Path:
    """A Messages database with one plain and one serialised text."""
    database = sqlite3.connect(path)
    database.executescript(
        """
        CREATE TABLE handle (ROWID INTEGER PRIMARY KEY, id TEXT);
        CREATE TABLE chat (ROWID INTEGER PRIMARY KEY, guid TEXT, display_name TEXT, chat_identifier TEXT);
        CREATE TABLE message (ROWID INTEGER PRIMARY KEY, guid TEXT, text TEXT, attributedBody BLOB, handle_id INTEGER,
            date INTEGER, is_from_me INTEGER, associated_message_type INTEGER);
        CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER);
        INSERT INTO handle VALUES (1, '+390612345678');
        INSERT INTO chat VALUES (1, 'iMessage;-;+390612345678', '', '+390612345678');
        """
    )
    body = b"\x04\x0bstreamtyped\x81\xe8\x03\x84\x01@\x84\x84\x84\x12NSAttributedString\x00"
    body += b"\x84\x84\x08NSObject\x00\x85\x92"
    body += (
        b"\x84\x84\x84\x08NSString\x01\x94\x84\x01+"
        + bytes([len("Só é".encode())])
        + "Só é".encode()
        + b"\x86\x84\x02iI"
    )
    rows = [
        (1, "g1", "Are you home?", None, 1, 700000000 * 10**9, 0, 0),
        (2, "g2", None, body, 0, 700000060 * 10**9, 1, 0),
        (3, "g3", "Loved “Are you home?”", None, 1, 700000070 * 10**9, 0, 2000),
    ]
    database.executemany("INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    database.executemany("INSERT INTO chat_message_join VALUES (1, ?)", [(1,), (2,), (3,)])
    database.commit()
    database.close()
    return path

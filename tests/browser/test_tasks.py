"""The main task of every page, done as a person would do it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visit
from tests.browser.world import USER, link


def card(visit: Visit, words: str) -> Any:
    return visit.page.locator("article", has_text=words).first


def test_a_sign_in_link_works_once(browser: Browser, served: Any) -> None:
    store, address, _ = served
    once = link(store, address, USER)
    context = browser.new_context()
    page = context.new_page()
    page.goto(once)
    expect(page).to_have_url(f"{address}/u/{USER}/memories")
    cookie = context.cookies()[0]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    assert page.goto(f"{address}/u/somebody-else/memories").status == 403
    assert page.goto(f"{address}/system").status == 403
    page.goto(f"{address}/u/{USER}/memories")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in with a link")).to_be_visible()
    assert page.goto(once).status == 401
    assert page.goto(f"{address}/u/{USER}/memories").status == 401
    context.close()


def test_memories_search_and_why(visit: Visit) -> None:
    page = visit.view("memories")
    page.get_by_label("Search memories").fill("Which herb tastes like soap?")
    page.get_by_role("button", name="Search").click()
    found = card(visit, "coriander")
    expect(found).to_be_visible()
    found.locator("summary").click()
    expect(found.locator(".parts")).to_be_visible()


def test_a_memory_is_added_pinned_corrected_forgotten_and_restored(visit: Visit) -> None:
    page = visit.view("memories")
    page.get_by_text("Add something by hand").click()
    page.get_by_label("One thing, in a full sentence").fill("My locker code is on the fridge")
    page.get_by_label("Pin it").check()
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_role("status").first).to_have_text("Kept.")
    expect(page.get_by_role("heading", name="Pinned")).to_be_visible()
    page.get_by_role("link", name="My locker code is on the fridge").first.click()
    page.get_by_label("The words").fill("My locker code is on the blue fridge")
    page.get_by_label("Never do").fill("Say the code aloud")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("ins", has_text="blue")).to_be_visible()
    page.get_by_label("May it be brought up?").select_option("no")
    expect(page.get_by_text("never brought up").first).to_be_visible()
    page.get_by_role("button", name="Unpin").click()
    page.get_by_role("button", name="Forget").click()
    expect(page.locator(".chip.red", has_text="forgotten")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("status").first).to_have_text("It is back.")


def test_the_timeline_shows_talk_beside_its_summary(visit: Visit) -> None:
    page = visit.view("timeline")
    expect(page.locator(".turn").first).to_be_visible()
    expect(page.locator(".stands .card").first).to_contain_text("summary")
    page.get_by_label("Channel").select_option("email")
    page.wait_for_url("**channel=email**")
    assert set(page.locator(".session header .chip:first-of-type").all_inner_texts()) <= {"email"}
    visit.view("timeline").get_by_role("link", name="Older").click()
    expect(page.locator(".turn").first).to_be_visible()


def test_two_names_become_one_and_two_again(visit: Visit) -> None:
    page = visit.view("people")
    question = card(visit, "the same?")
    expect(question).to_contain_text("Sam")
    question.get_by_role("button", name="Yes, one").click()
    expect(page.get_by_role("status").first).to_have_text("They are one now.")
    page.locator("svg.graph a", has_text="Samantha").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Samantha")
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("status").first).to_have_text("They are two again.")


def test_a_promise_is_kept(visit: Visit, served: Any) -> None:
    served[0].user(USER, persona="coach", channel="web").observe("Remind me to water the plants on Friday.")
    served[0].settle()
    page = visit.view("promises")
    promise = card(visit, "water the plants")
    promise.get_by_role("button", name="Done").click()
    expect(page.get_by_role("status").first).to_have_text("Done. Well held.")
    expect(card(visit, "water the plants").get_by_role("button", name="Done")).to_have_count(0)


def test_outreach_is_the_users_switch(visit: Visit, served: Any) -> None:
    page = visit.see(f"/u/{USER}/companion?persona=coach")
    expect(page.locator("svg.chart")).to_be_visible()
    reach = page.locator(".card", has_text="May reach out")
    reach.get_by_role("button", name="Switch on").click()
    expect(reach.get_by_role("button", name="Switch off")).to_be_visible()
    assert served[0].user(USER, persona="coach").state().outreach is True
    reach.get_by_role("button", name="Switch off").click()
    expect(reach.get_by_role("button", name="Switch on")).to_be_visible()
    assert served[0].user(USER, persona="coach").state().outreach is False


def test_the_context_of_a_message(visit: Visit, served: Any) -> None:
    page = visit.view("context")
    page.get_by_label("A message").fill("What is Theo allergic to?")
    page.get_by_label("Budget in tokens").fill("2500")
    page.get_by_role("button", name="Build").click()
    expect(page.locator("svg.stack")).to_be_visible()
    page.get_by_text("The messages, as they are sent").click()
    built = served[0].user(USER, channel="web").context("What is Theo allergic to?", budget=2500)
    expect(page.locator("#whole .card")).to_have_count(len(built.messages))
    page.get_by_label("Budget in tokens").fill("100")
    page.get_by_role("button", name="Build").click()
    expect(page.get_by_role("alert")).to_contain_text("needed")


def test_what_came_from_outside_waits_for_a_word(visit: Visit, served: Any) -> None:
    page = visit.view("waiting")
    card(visit, "window seats").get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("status").first).to_contain_text("it counts as yours")
    card(visit, "moved to Oslo").get_by_role("button", name="Refuse").click()
    expect(page.locator("article", has_text="moved to Oslo")).to_have_count(0)
    known = [one.content for one in served[0].user(USER).memories()]
    assert any("window seats" in one for one in known) and not any("Oslo" in one for one in known)


def test_retention_and_the_log(visit: Visit) -> None:
    page = visit.view("privacy")
    expect(page.get_by_role("cell", name=re.compile("^read")).first).to_be_visible()
    page.get_by_role("button", name="Check that the log is whole").click()
    expect(page.get_by_role("status").first).to_contain_text("entries are whole")
    page.get_by_label("Days; empty keeps everything").fill("3650")
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_text("older than 3,650 days")).to_be_visible()
    page.get_by_label("Days; empty keeps everything").fill("")
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_text("Messages stay until you say otherwise.")).to_be_visible()


def test_erasing_asks_twice_and_gives_a_proof(visit: Visit, served: Any) -> None:
    served[0].user("leaving").observe("Please forget me")
    page = visit.see("/u/leaving/privacy")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_label("The user's id").fill("leaving")
    page.get_by_role("button", name="Erase everything").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("leaving is erased")
    expect(page.get_by_role("row", name="Left 0 rows")).to_be_visible()
    assert "leaving" not in served[0].users()


def test_one_memory_message_and_session_are_erased_with_their_proof(visit: Visit, served: Any) -> None:
    person = served[0].user("tidy")
    person.remember("My old flat was in Turin")
    for session, text in (("a", "I lost my keys in Turin"), ("a", "I found them again"), ("b", "Good morning")):
        person.observe(text, session=session)
    page = visit.see("/u/tidy/memories")

    def erase(what: str, words: str) -> None:
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Erase this {what} for good?")
        expect(page.get_by_role("main")).to_contain_text(words)
        page.get_by_role("button", name="Erase it for good").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"The {what} is erased")
        expect(page.get_by_role("row", name="Left 0 rows")).to_be_visible()
        expect(page.get_by_role("row", name="Checked again nothing of it is left")).to_be_visible()

    page.get_by_role("link", name="My old flat was in Turin").first.click()
    page.get_by_role("link", name="Erase for good").click()
    erase("memory", "My old flat was in Turin")
    visit.see("/u/tidy/timeline").locator(".turn", has_text="I lost my keys").get_by_text("Erase").click()
    erase("message", "I lost my keys in Turin")
    visit.see("/u/tidy/timeline").locator("section", has_text="Good morning").get_by_text("Erase session").click()
    erase("session", "1 messages")
    assert [one.content for one in person.page("messages").items] == ["I found them again"]


def test_what_a_source_brought_in_is_shown_and_taken_back(visit: Visit, served: Any) -> None:
    person = served[0].user("mailed")
    person.remember("I live in Bergen")
    person.remember("I am told to buy gold", source="newsletter")
    person.remember("I am told to buy silver", source="leaflet")
    page = visit.see("/u/mailed/privacy")
    page.get_by_label("Source").fill("newsletter")
    page.get_by_role("button", name="Show what would go").click()
    expect(page.get_by_role("main")).to_contain_text("I am told to buy gold")
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Taken back: newsletter")
    visit.see("/u/mailed/privacy").get_by_label("Source").fill("leaflet")
    page.get_by_role("button", name="Show what would go").click()
    page.get_by_role("button", name="Erase it for good").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The source is erased")
    assert [one.content for one in person.page("memories").items] == ["I live in Bergen"]


def test_a_key_is_made_and_revoked(visit: Visit) -> None:
    page = visit.see("/system")
    page.get_by_label("Name").fill("kitchen tablet")
    page.get_by_role("button", name="Make a key").click()
    expect(page.locator("#secret")).to_contain_text("tnk_")
    page.on("dialog", lambda dialog: dialog.accept())
    row = page.get_by_role("row", name="kitchen tablet")
    row.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("row", name="kitchen tablet")).to_contain_text("closed")


def test_pages_follow_what_happens(visit: Visit, served: Any) -> None:
    page = visit.view("timeline")
    expect(page.locator("#live")).to_have_attribute("data-on", "yes")
    served[0].user(USER, persona="coach", channel="web").observe("This appears without loading the page again.")
    expect(page.get_by_text("This appears without loading the page again.").first).to_be_visible()


def test_the_keyboard_is_enough(visit: Visit) -> None:
    page = visit.view("memories")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Search memories")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("[data-card]").first).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/timeline")


def test_the_theme_is_remembered(visit: Visit) -> None:
    page = visit.view("memories")
    page.get_by_role("button", name="Light or dark").click()
    page.get_by_role("button", name="Light", exact=True).click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("visit", [{"java_script_enabled": False}], indirect=True, ids=["without scripts"])
def test_everything_works_without_scripts(visit: Visit) -> None:
    page = visit.view("memories")
    page.get_by_label("Search memories").fill("oat milk")
    page.get_by_role("button", name="Search").click()
    card(visit, "oat milk").get_by_role("button", name="Pin").click()
    expect(page.get_by_role("status").first).to_contain_text("Pinned")


def test_a_form_without_its_token_does_nothing(visit: Visit, served: Any) -> None:
    before = len(served[0].user(USER).memories())
    answer = visit.context.request.post(f"{visit.address}/u/{USER}/memories", form={"text": "I like sneaky forms"})
    assert answer.status == 403
    foreign = visit.context.request.post(
        f"{visit.address}/u/{USER}/memories",
        form={"text": "I like sneaky forms"},
        headers={"Origin": "http://evil.example"},
    )
    assert foreign.status == 403
    assert len(served[0].user(USER).memories()) == before

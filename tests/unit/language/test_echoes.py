"""Text that was handed out does not come back as news."""

from tenuto.language.echoes import echoes, without_injected


def test_injected_blocks_are_cut_out():
    text = "Hi\n<<memory 12ab>>\n- [2026-11-15, said] Lives in Rome\n<<end 12ab>>\nI like tea."
    cleaned, found = without_injected(text)
    assert found
    assert "Rome" not in cleaned
    assert "I like tea." in cleaned
    assert without_injected("- [2026-11-15, said] Lives in Rome\nok")[0].strip() == "ok"
    assert without_injected("I like tea.") == ("I like tea.", False)


def test_paraphrases_are_echoes():
    assert echoes("The user lives in Rome", "Lives in Rome", 0.1, 0.78)
    assert not echoes("I will book a table", "Lives in Rome", 0.1, 0.78)

// Small help on top of pages that work without it: theme, keys, live updates, asking before what cannot be undone.
(() => {
  "use strict";
  const root = document.documentElement;
  const body = document.body;

  const themes = { auto: "Light or dark", light: "Light", dark: "Dark" };
  const button = document.getElementById("theme");
  const theme = (name) => {
    if (name === "auto") root.removeAttribute("data-theme"); else root.setAttribute("data-theme", name);
    if (button) button.textContent = themes[name];
    try { localStorage.setItem("tenuto-theme", name); } catch { /* private mode: the choice lasts for this page */ }
  };
  let chosen = "auto";
  try { chosen = localStorage.getItem("tenuto-theme") || "auto"; } catch { /* as above */ }
  theme(chosen in themes ? chosen : "auto");
  button?.addEventListener("click", () => {
    const order = Object.keys(themes);
    chosen = order[(order.indexOf(chosen) + 1) % order.length];
    theme(chosen);
  });

  document.addEventListener("submit", (event) => {
    const words = event.target.dataset?.ask;
    if (words && !window.confirm(words)) event.preventDefault();
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-go]")) event.target.form.requestSubmit();
  });

  const typing = () => /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "");
  const help = document.getElementById("help");
  document.getElementById("help-open")?.addEventListener("click", () => help.showModal());
  let waiting = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
    if (event.key === "Escape" && typing()) { document.activeElement.blur(); return; }
    if (typing()) return;
    if (event.key === "?") { help?.showModal(); event.preventDefault(); return; }
    if (event.key === "/") { const field = document.querySelector("[data-search]"); if (field) { field.focus(); event.preventDefault(); } return; }
    if (event.key === "j" || event.key === "k") {
      const cards = [...document.querySelectorAll("[data-card]")];
      if (!cards.length) return;
      const here = cards.findIndex((card) => card.contains(document.activeElement));
      const next = Math.min(Math.max(here + (event.key === "j" ? 1 : -1), 0), cards.length - 1);
      cards[next].focus();
      cards[next].scrollIntoView({ block: "nearest" });
      return;
    }
    if (waiting) {
      waiting = false;
      document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`)?.click();
    } else if (event.key === "g") {
      waiting = true;
      setTimeout(() => { waiting = false; }, 1200);
    }
  });

  const feed = body.dataset.feed;
  const sign = document.getElementById("live");
  if (!feed || !window.EventSource) return;
  let source = null, due = 0;
  const busy = () => typing() || document.querySelector("main details[open] form, dialog[open]") || String(getSelection()).length > 0;
  const refresh = async () => {
    due = 0;
    if (busy()) { due = setTimeout(refresh, 2000); return; }
    const answer = await fetch(location.href.replace(/([?&])done=\w+&?/, "$1"), { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["main", "nav"]) {
      const now = document.getElementById(id), next = page.getElementById(id);
      if (now && next && !now.isEqualNode(next)) {
        const open = [...now.querySelectorAll("details[open][id]")].map((one) => one.id);
        now.replaceChildren(...next.childNodes);
        for (const one of open) document.getElementById(one)?.setAttribute("open", "");
        if (id === "main") document.getElementById("spoken").textContent = "This page was updated.";
      }
    }
  };
  const soon = () => { if (!due) due = setTimeout(refresh, 350); };
  const open = () => {
    source = new EventSource(feed);
    source.onopen = () => { if (sign) { sign.dataset.on = "yes"; sign.lastChild.textContent = "live"; } };
    source.onerror = () => { if (sign) { sign.dataset.on = "no"; sign.lastChild.textContent = "not connected"; } };
    source.onmessage = soon;
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { source?.close(); source = null; } else if (!source) { open(); soon(); }
  });
  window.addEventListener("pagehide", () => source?.close());
  open();
})();

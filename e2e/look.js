// Lists what is wrong with the page, after a first word that says it has been looked at.
(language) => {
  const wrong = ["looked"];
  const name = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (e.dataset.testid ? "[" + e.dataset.testid + "]" : "") +
    " “" + (e.textContent || "").trim().slice(0, 30) + "”";
  const all = (selector) => [...document.querySelectorAll(selector)];
  const seen = (e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && e.getBoundingClientRect().width > 1;

  // What the browser's tab, a reader and a search engine are told.
  if (document.documentElement.lang !== language) wrong.push("its language is " + document.documentElement.lang);
  for (const e of all("a[hreflang]")) if (e.lang !== e.hreflang) wrong.push("spoken in the page's language: " + name(e));
  if (!document.title) wrong.push("it has no title");
  const foreign = language === "nl" ? /\b(the|and|your|you|with|order|this|from|email|pay)\b/i
    : /\b(het|een|en|niet|je|wij|voor|bestelling|betalen|naar|wordt|mandje)\b/i;
  for (const e of all("body, body *, title")) {
    if (e.closest("[lang]").lang !== language || e.matches("script, pre, textarea")) continue; // people write as they like
    const own = [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data);
    const told = ["aria-label", "title", "alt", "placeholder"].map((a) => e.getAttribute(a) ?? "").concat(e.matches("form") ? Object.values(e.dataset).filter((v) => v.includes(" ")) : []);
    for (const text of own.concat(told)) if (foreign.test(text)) wrong.push("in another language: " + text.trim());
  }
  const failed = all("[data-testid=error-summary]").length > 0;
  if (failed && !/^(Error|Fout): /.test(document.title)) wrong.push("its title does not say that something is wrong: " + document.title);
  if (all("h1").length !== 1) wrong.push("it has " + all("h1").length + " main headings");
  if (all("main").length !== 1) wrong.push("it has no main part");
  const ids = all("[id]").map((e) => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) wrong.push("the id " + id + " is used twice");
  for (const e of all("input:not([type=hidden]), select, textarea")) {
    if (![...e.labels].some((l) => l.textContent.trim()) && !e.ariaLabel) wrong.push("without a label: " + name(e));
  }
  for (const e of all("a[href], button")) {
    if (!e.textContent.trim() && !e.ariaLabel && e.ariaHidden !== "true") wrong.push("without a name: " + name(e));
  }
  for (const e of all("[aria-describedby], [aria-labelledby]")) {
    for (const id of ((e.getAttribute("aria-describedby") ?? "") + " " + (e.getAttribute("aria-labelledby") ?? "")).trim().split(/\s+/)) {
      if (!document.getElementById(id)) wrong.push(name(e) + " refers to #" + id + ", which is not there");
    }
  }
  for (const e of all("a[href^='#']")) {
    if (!document.getElementById(e.hash.slice(1))) wrong.push(name(e) + " leads to " + e.hash + ", which is not there");
  }
  for (const e of all("[data-poll]")) {
    if (!e.closest("[role=status]")) wrong.push("nobody is told of the waiting: " + name(e));
  }

  // Nothing moves for those who asked for less motion.
  for (const a of document.getAnimations()) wrong.push("it moves: " + name(a.effect.target));

  // Nothing is cut off or has to be scrolled to sideways; not with letters of twice the size either, where there is room for them.
  const fits = (when) => {
    const wide = document.scrollingElement.scrollWidth;
    if (wide <= innerWidth) return;
    const who = all("body *").filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map(name).slice(0, 3);
    wrong.push("it is " + wide + " pixels wide" + when + ", so it scrolls sideways: " + who.join(", "));
  };
  fits("");
  if (innerWidth >= 1200) {
    document.documentElement.style.fontSize = "200%";
    fits(" with large letters");
    document.documentElement.style.fontSize = "";
  }

  // A table can be read: nothing in it is squeezed into letters, and no words run together.
  for (const e of all(".table-region tbody tr")) if (e.offsetHeight > 300) wrong.push("squeezed until it is " + e.offsetHeight + " pixels high: " + name(e));
  for (const e of all(".table-region a")) {
    const parts = [...e.childNodes].filter((n) => n.textContent.trim()).length;
    if (parts > 1 && getComputedStyle(e).display.includes("flex")) wrong.push("its words run together: " + name(e));
  }

  // What is pressed is large enough for a thumb: 44 pixels, or a word in a sentence.
  const inSentence = (e) => getComputedStyle(e).display === "inline" && e.parentElement.textContent.trim().length > e.textContent.trim().length + 10;
  for (const e of all("a[href], button, input:not([type=hidden]), select, textarea").filter(seen)) {
    const target = e.matches("[type=radio], [type=checkbox]") ? e.closest("label") ?? e : e;
    const r = target.getBoundingClientRect();
    const least = inSentence(e) ? 0 : 43.5;
    if (r.width < least || r.height < least) wrong.push("too small to hit (" + Math.round(r.width) + " by " + Math.round(r.height) + "): " + name(e));
  }

  // Wherever the keyboard goes, one sees it: in the window, and with nothing on top.
  for (const e of all("a[href], button, input:not([type=hidden]), select, textarea, [tabindex]").filter(seen)) {
    if (e.disabled) continue;
    e.focus();
    const r = e.getBoundingClientRect();
    const tall = r.height > innerHeight; // then any part of it is enough
    const [x, y] = [r.x + r.width / 2, (tall ? Math.max(r.y, 0) : r.y) + Math.min(r.height, 40) / 2];
    const top = document.elementFromPoint(x, y);
    const bottom = e.matches("textarea, div") ? r.top + 24 : r.bottom; // of a large field or region its first line is enough
    if (tall ? r.bottom < 40 || r.top > innerHeight - 40 : r.top < -1 || bottom > innerHeight + 1) wrong.push("focused, and out of sight: " + name(e));
    else if (!top || !(e.contains(top) || top.contains(e) || [...(e.labels ?? [])].some((l) => l.contains(top)))) wrong.push("focused, and covered: " + name(e));
  }
  document.activeElement?.blur();
  scrollTo({top: 0, behavior: "instant"});

  // Every text stands out from its ground.
  const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (color) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const color = rgba(getComputedStyle(e).backgroundColor);
      if (color[3] === 255) return color;
    }
    return rgba("Canvas");
  };
  const texts = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (walker.currentNode.data.trim()) texts.add(walker.currentNode.parentElement);
  for (const e of [...texts].filter(seen)) {
    const style = getComputedStyle(e);
    const [a, b] = [light(rgba(style.color)), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    if (ratio < (size >= 24 || (size >= 18.6 && style.fontWeight >= 700) ? 3 : 4.5)) wrong.push("contrast " + ratio.toFixed(1) + ": " + name(e));
  }
  return wrong;
}

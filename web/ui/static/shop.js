// Makes forms marked data-once comfortable: one press counts, a lost answer is asked for again with
// the same key, and a person who waits is told so. It protects nothing: the server does, and every
// page works without this file.

const deadline = 15000, budget = 120000, tries = 5, base = 200, cap = 5000; // milliseconds

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const number = (form, name, standard) => Number(form.dataset[name] ?? standard);
const jitter = (form, tried) =>
  Math.random() * Math.min(number(form, "cap", cap), number(form, "base", base) * 2 ** (tried - 1));

const parsed = (html) => new DOMParser().parseFromString(html, "text/html");
const duration = (place, n) => (n === 1 ? place.dataset.second : place.dataset.seconds.replace("{n}", n));

// A UUIDv7 by the server's clock: a phone with a wrong date would make keys that are refused.
function uuidv7() {
  const rendered = Number(document.querySelector("[data-now]")?.dataset.now);
  const now = rendered ? rendered + performance.now() : Date.now();
  const b = crypto.getRandomValues(new Uint8Array(16));
  for (let i = 0; i < 6; i++) b[i] = Math.floor(now / 2 ** (8 * (5 - i))) % 256;
  b[6] = (b[6] & 0x0f) | 0x70;
  b[8] = (b[8] & 0x3f) | 0x80;
  const hex = [...b].map((x) => x.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// The key of a form that makes its own: made at the first press and remembered for the form, so that a
// reload or a second tab sends the same one.
function mintedKey(form) {
  const name = "key:" + form.dataset.mint;
  try {
    const known = localStorage.getItem(name);
    if (known) return known;
    const key = uuidv7();
    localStorage.setItem(name, key);
    return key;
  } catch {
    return form.elements[form.dataset.key].value; // storage is closed: the page's own key serves
  }
}

function setBusy(form, button) {
  form.dataset.sending = "";
  for (const b of buttons(form)) b.setAttribute("aria-disabled", "true");
  const label = button?.querySelector("[data-label]");
  if (!label) return;
  button.dataset.busy = label.textContent;
  label.textContent = form.dataset.working;
}

function setReady(form) {
  delete form.dataset.sending;
  delete form.dataset.waitsForNetwork;
  for (const b of buttons(form)) {
    b.removeAttribute("aria-disabled");
    const label = b.querySelector("[data-label]");
    if (label && b.dataset.busy) label.textContent = b.dataset.busy;
    delete b.dataset.busy;
  }
}

const buttons = (form) => [...form.elements].filter((e) => e.type === "submit");

function tell(form, text) {
  const region = form.querySelector("[data-wait]");
  if (region && region.textContent !== text) region.textContent = text;
}

// Tells a waiting person what goes on: after one second, and more after ten. Only new sentences are
// announced; the seconds are for the eyes.
function narrate(form) {
  const region = form.querySelector("[data-wait]");
  const started = Date.now();
  if (!region) return () => {};
  const seconds = document.createElement("span");
  seconds.setAttribute("aria-hidden", "true");
  let said = 0;
  const timer = setInterval(() => {
    const waited = Math.floor((Date.now() - started) / 1000);
    if (waited >= 1 && said < 1) { region.append(form.dataset.waitText + " ", seconds); said = 1; }
    if (waited >= 10 && said < 2 && form.dataset.long) {
      const more = document.createElement("p");
      more.textContent = form.dataset.long + " ";
      const link = document.createElement("a");
      link.href = form.dataset.statusUrl;
      link.textContent = form.dataset.check;
      more.append(link);
      region.append(more);
      tellOrder(form, more);
      said = 2;
    }
    seconds.textContent = "(" + duration(form, waited) + ")";
  }, 200);
  return () => { clearInterval(timer); region.replaceChildren(); };
}

// Tells a person who waits long of the order, when the server has made one: before that, none is kept.
async function tellOrder(form, place) {
  try {
    const answer = await fetch(form.dataset.statusUrl, { signal: AbortSignal.timeout(deadline) });
    const number = parsed(await answer.text()).querySelector("[data-number]")?.textContent;
    if (number) place.prepend(form.dataset.order.replace("{number}", number) + " ");
  } catch {
    // It is told later, by the page that comes.
  }
}

// Sends the form until an answer is final. Gives the answer, or nothing when the outcome is unknown.
// When the tries are used up, a page of ours that came with the last one is the answer: it says what is
// certain. What a proxy on the way says is none.
async function send(form, body, key) {
  const end = Date.now() + number(form, "budget", budget);
  let last = null;
  for (let tried = 1; tried <= number(form, "tries", tries); tried++) {
    let pause = jitter(form, tried);
    last = null;
    try {
      const headers = {};
      if (key) headers["Idempotency-Key"] = key;
      if (tried > 1) headers["Retry-Attempt"] = String(tried);
      const left = Math.min(number(form, "deadline", deadline), end - Date.now());
      if (left <= 0) return last;
      const answer = await fetch(form.action, {
        method: "POST", body, headers, redirect: "follow", credentials: "same-origin", signal: AbortSignal.timeout(left),
      });
      const after = Number(answer.headers.get("Retry-After"));
      const again = !answer.redirected && (answer.status >= 500 || (answer.status === 409 && answer.headers.has("Retry-After")));
      const page = answer.redirected ? "" : await answer.text();
      if (!again) return { answer, page };
      if (parsed(page).querySelector("main[data-state]")) last = { answer, page };
      if (after > 0) pause = after * 1000 + jitter(form, tried);
    } catch {
      // The connection failed or the deadline passed: the outcome is unknown, so ask again.
    }
    if (Date.now() + pause >= end) return last;
    await sleep(pause);
  }
  return last;
}

async function submit(form, button) {
  if (!navigator.onLine) {
    setBusy(form, null);
    form.dataset.waitsForNetwork = "";
    tell(form, form.dataset.offline);
    return;
  }
  if (form.dataset.mint) form.elements[form.dataset.key].value = mintedKey(form);
  const data = new FormData(form);
  if (button?.name) data.append(button.name, button.value);
  const key = form.dataset.key ? String(data.get(form.dataset.key)) : "";
  setBusy(form, button);
  const quiet = narrate(form);
  const final = await send(form, new URLSearchParams(data), key);
  if (!final && form.dataset.statusUrl) { seeStatus(form); return; }
  if (final?.answer.redirected) { location.assign(final.answer.url); return; }
  if (final?.answer.status === 202) { location.assign(final.answer.headers.get("Location")); return; }
  quiet();
  setReady(form);
  if (final) show(final.page);
  else tell(form, form.dataset.unknown);
}

// Puts a page that came as an answer in place of this one.
function show(html) {
  const next = parsed(html);
  document.title = next.title;
  document.documentElement.lang = next.documentElement.lang;
  document.body.replaceWith(document.adoptNode(next.body));
  ready();
  scrollTo(0, 0);
  focusMessage();
}

// The status page tells what came of it. Without a network it cannot be shown, so it waits for one.
function seeStatus(form) {
  if (navigator.onLine) { location.assign(form.dataset.statusUrl); return; }
  tell(form, form.dataset.unknown);
  addEventListener("online", () => location.assign(form.dataset.statusUrl), { once: true });
}

function focusMessage() {
  document.querySelector("[data-focus]")?.focus();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-once]")) return;
  event.preventDefault();
  if ("sending" in form.dataset) return;
  submit(form, event.submitter);
});

addEventListener("online", () => {
  for (const form of document.querySelectorAll("form[data-waits-for-network]")) {
    setReady(form);
    tell(form, "");
  }
});

// A page that comes back from memory shows what was true then. The button works again at once, and the
// page is loaded anew when the server would show another state. Typed text stays otherwise.
addEventListener("pageshow", async (event) => {
  if (!event.persisted) return;
  const forms = document.querySelectorAll("form[data-once]");
  for (const form of forms) { setReady(form); tell(form, ""); }
  if (!forms.length) return;
  try {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(deadline) });
    const page = parsed(await answer.text());
    const moved = new URL(answer.url).pathname !== location.pathname;
    if (moved || page.querySelector("main")?.dataset.state !== document.querySelector("main")?.dataset.state) location.replace(answer.url);
  } catch {
    // Unreachable: the form is still safe to send.
  }
});

// The waiting page asks for itself until the server sends it elsewhere.
async function poll(place) {
  const started = Date.now() - Number(place.dataset.elapsed) * 1000;
  const seconds = place.querySelector("[data-elapsed-text]");
  if (seconds) setInterval(() => {
    seconds.textContent = duration(place, Math.floor((Date.now() - started) / 1000));
  }, 1000);
  for (let pause = Number(place.dataset.poll); ; pause = Math.min(pause * 1.3, 10000)) {
    await sleep(pause);
    if (document.hidden || !place.isConnected) continue;
    try {
      const answer = await fetch(location.href, { signal: AbortSignal.timeout(deadline) });
      if (answer.redirected) { location.replace(answer.url); return; }
      const page = parsed(await answer.text());
      if (page.querySelector("main")?.dataset.state !== document.querySelector("main")?.dataset.state) { location.reload(); return; }
    } catch {
      // Ask again later.
    }
  }
}

// A living part of a page is drawn anew every second, until the server sends it as ended.
async function live(place) {
  while (place?.matches("[data-live]")) {
    await sleep(1000);
    if (document.hidden) continue;
    try {
      const answer = await fetch(location.href, { signal: AbortSignal.timeout(deadline) });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const next = page.getElementById(place.id);
      if (!next) continue;
      place.replaceWith(document.adoptNode(next));
      place = next;
    } catch {
      // Ask again later.
    }
  }
}

function ready() {
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const dark = matchMedia("(prefers-color-scheme: dark)").matches;
      const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
      const theme = now === "dark" ? "light" : "dark";
      document.documentElement.dataset.theme = theme;
      try { localStorage.setItem("theme", theme); } catch { /* for this page only */ }
    });
  }
}

ready();
focusMessage();
const waiting = document.querySelector("[data-poll]");
if (waiting) poll(waiting);
live(document.querySelector("[data-live]"));

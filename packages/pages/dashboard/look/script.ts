/**
 * The script of the dashboard's pages, which also work without it. It adds copy buttons, buttons
 * that stay disabled until the required text is typed, times in the reader's zone, a keyboard shortcut for the search
 * field, forms that are sent once and only while signed in, fields that the tab remembers, boxes that tick all others,
 * previews of typed text, and numbers that refresh.
 */
export const script = `const all = (selector, within = document) => [...within.querySelectorAll(selector)];

for (const button of all("[data-copies]")) {
  const label = button.innerHTML;
  button.hidden = false;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = button.dataset.copied;
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = button.dataset.selected;
    }
    setTimeout(() => {
      button.innerHTML = label;
    }, 3000);
  });
}

for (const field of all("[data-awaits]")) {
  const button = field.form.querySelector("button");
  const plain = (text) =>
    text.normalize("NFKC").replaceAll(/\\p{Cf}/gu, "").replaceAll(/\\s+/g, " ").trim().replaceAll("\u2019", "'");
  const update = () => {
    button.disabled = plain(field.value) !== plain(field.dataset.awaits);
  };
  field.addEventListener("input", update);
  update();
}

for (const field of all("[data-kept]")) {
  const name = "accountlink " + location.pathname + " " + field.name;
  field.value ||= sessionStorage.getItem(name) ?? "";
  field.form.addEventListener("submit", () => sessionStorage.setItem(name, field.value));
}

// On sign-out, delete the field values that the tab has stored.
for (const form of all('form[action$="/sign-out"]')) form.addEventListener("submit", () => sessionStorage.clear());

// Reloading the page that shows a key, or answers a form with a question, would send the form again, so its URL changes.
for (const leaving of all("[data-leaves-for]")) history.replaceState(null, "", leaving.dataset.leavesFor);

// The notice of an action is for this visit only: a reload, or a way back, would claim the action again.
const here = new URL(location);
for (const notice of ["done", "imported", "gone"]) here.searchParams.delete(notice);
if (here.href !== location.href) history.replaceState(null, "", here);

for (const box of all("[data-ticks]")) {
  box.parentElement.hidden = false;
  box.addEventListener("change", () => {
    for (const each of document.getElementById(box.dataset.ticks).elements) each.checked = box.checked;
  });
}

const { locale } = new Intl.DateTimeFormat().resolvedOptions();
const base = (tag) => tag.split("-", 1)[0];
const formats = new Map();

/** Formats in the language of the page, by the habits of the reader's region where the browser has the same language. */
const formatOf = (tag, options) => {
  const name = tag + options.timeStyle;
  const habits = base(locale) === base(tag) ? locale : tag;
  if (!formats.has(name)) formats.set(name, new Intl.DateTimeFormat(habits, options));
  return formats.get(name);
};

/** Shows times in the reader's own zone, whose title keeps UTC. */
const localize = (within) => {
  for (const time of all("time[datetime]", within)) {
    time.title ||= time.textContent;
    const options = time.dateTime.includes("T")
      ? { dateStyle: "medium", timeStyle: "short" }
      : { dateStyle: "medium", timeZone: "UTC" };
    time.textContent = formatOf(time.closest("[lang]").lang, options).format(new Date(time.dateTime));
  }
};
localize(document);

// Wide windows always show the menu. Browsers without ::details-content ignore the style for that, so open it here.
if (!CSS.supports("selector(::details-content)") && matchMedia("(min-width: 60rem)").matches) {
  for (const menu of all(".menu")) menu.open = true;
}

addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.getElementById("find");
  if (field === null) return;
  event.preventDefault();
  field.focus();
});

const openedAt = Date.now();
const oldMs = 60_000;
const visitorOf = (page) => page.querySelector(".visitor").dataset.of;

/**
 * Whether the reader is still signed in to the account that this page was made for. The forms of the page get the token
 * of the reader's newest sign-in.
 */
const isSignedIn = async () => {
  const account = document.querySelector('form[action$="/sign-out"]').action.replace(/sign-out$/, "account");
  const response = await fetch(account, { redirect: "manual" }).catch(() => null);
  if (!response?.ok) return response?.type !== "opaqueredirect";
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const { value } = fresh.querySelector("[name=csrf]");
  const tokens = all("[name=csrf]");
  if (tokens[0].value !== value && visitorOf(fresh) !== visitorOf(document)) return false;
  for (const field of tokens) field.value = value;
  return true;
};

/**
 * Sends a form once if its button is pressed twice: a second rotation refuses the secret that programs have. A form of an
 * old page is kept if its sign-in has ended, because its answer would lose what was typed.
 */
for (const form of all('form[method="post"]')) {
  let state = "ready";
  form.addEventListener("submit", async (event) => {
    if (state === "ready" && Date.now() - openedAt > oldMs) {
      event.preventDefault();
      state = "asking";
      const { submitter } = event;
      const signedOut = document.getElementById("signed-out");
      signedOut.hidden = await isSignedIn().catch(() => true);
      state = signedOut.hidden ? "asked" : "ready";
      if (signedOut.hidden) form.requestSubmit(submitter);
      else signedOut.focus();
    } else if (state === "ready" || state === "asked") {
      state = "sent";
      setTimeout(() => { state = "ready"; }, 2000);
    } else event.preventDefault();
  });
}

const typingMs = 500;

for (const frames of all("[data-previews]")) {
  const form = document.getElementById(frames.dataset.previews);
  const show = async () => {
    const body = new URLSearchParams(new FormData(form));
    body.set("act", "preview");
    const response = await fetch(form.action, { method: "POST", body }).catch(() => null);
    if (!response?.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const [index, frame] of all("[data-previews] iframe", fresh).entries()) {
      frames.children[index].srcdoc = frame.srcdoc;
    }
  };
  let waiting;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, typingMs);
  });
}

/** Asks before a form that was changed is left. */
for (const form of all("form[data-guarded]")) {
  let isChanged = form.dataset.guarded === "changed";
  form.addEventListener("input", () => { isChanged = true; });
  form.addEventListener("submit", ({ defaultPrevented }) => { isChanged &&= defaultPrevented; });
  addEventListener("beforeunload", (event) => { if (isChanged) event.preventDefault(); });
}

const live = all("[data-live]");
const stopped = document.getElementById("stopped");
const freshMs = 1000 * (live[0]?.dataset.live || 10);

/**
 * Fetches the page again, and updates the elements marked data-live. Shows the whole page if it has none any more, or
 * leads to another one. Says so if the reader is no longer signed in to its account.
 */
const refresh = async () => {
  if (document.hidden) return;
  const response = await fetch(document.URL, { redirect: "manual" }).catch(() => null);
  const isLed = response?.type === "opaqueredirect";
  if (!isLed && !response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const isSame = isLed ? await isSignedIn().catch(() => true) : visitorOf(fresh) === visitorOf(document);
  stopped.hidden = isSame;
  if (!isSame) return;
  if (isLed) return location.reload();
  localize(fresh);
  const [figures, others] = [all("[data-live]"), all("[data-live]", fresh)];
  if (others.length === 0) return location.reload();
  for (const [index, old] of figures.entries()) {
    const changed = others[index] && others[index].innerHTML !== old.innerHTML;
    // Do not replace an element that contains the keyboard focus.
    if (changed && !old.contains(document.activeElement)) old.replaceWith(others[index]);
  }
};

if (live.length > 0) setInterval(refresh, freshMs);
`;

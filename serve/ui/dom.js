// Building elements. Text becomes text nodes; nothing on this page is parsed as markup.

export const $ = (id) => document.getElementById(id);

/** An element. `attributes`: functions are listeners (`onclick`), true sets, false and null leave out. */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child != null && child !== false));
  return node;
}

export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", ...attributes, onclick }, text);
}

// Direction overrides and other unseen characters can make a name read as another one: they are shown as a mark.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** A name out of a document, as plain visible text. */
export const shownName = (name) => String(name ?? "").replace(UNSEEN, "\ufffd") || "(no name)";

/** A name kept apart from the writing direction of the words around it. */
export const nameNode = (name) => el("bdi", { class: "name" }, shownName(name));

/** Say it to screen readers, through `target` while a modal dialog hides the page's own live region. */
export function announce(text, target = $("live")) {
  target.textContent = "";
  setTimeout(() => (target.textContent = text), 60); // emptied first, so that the same words are said again
}

/** An error for a person: the plain message, the code, and a way to try again. */
export function problem(error, retry, attributes = {}) {
  return el(
    "div",
    { class: "problem", role: "alert", ...attributes },
    el("p", {}, error.message || "Something went wrong."),
    el("p", { class: "hint" }, error.code ?? "", error.requestId ? ` · request ${error.requestId}` : ""),
    retry && button("Try again", retry),
  );
}

export const loading = (text) => el("p", { class: "loading", role: "status" }, text);

const BYTES = ["byte", "kilobyte", "megabyte", "gigabyte"];

export function size(bytes) {
  const step = Math.min(3, bytes > 0 ? Math.floor(Math.log10(bytes) / 3) : 0);
  const format = { style: "unit", unit: BYTES[step], unitDisplay: step ? "short" : "long", maximumFractionDigits: 1 };
  return new Intl.NumberFormat("en", format).format(bytes / 1000 ** step);
}

export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

export function time(iso) {
  const format = { dateStyle: "medium", timeStyle: "short" };
  return el("time", { datetime: iso }, new Intl.DateTimeFormat("en-GB", format).format(new Date(iso)));
}

/** A promise that is done after `ms`, or as soon as `signal` aborts. */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

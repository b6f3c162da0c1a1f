// A passage among the passages around it, for documents without pages (and for reading instead of looking).

import { get, query } from "./api.js";
import { button, el, loading, problem, shownName } from "./dom.js";
import { passage, sections } from "./passage.js";

const PER_PAGE = 10;

/** Fills `place` with the chunks around `hit`, more of them before and after on demand. */
export async function showNeighbours(place, hit, { words, note, signal }) {
  place.replaceChildren(loading("Loading the text …"));
  const view = { hit, words, signal, list: el("div", { class: "chunks" }), total: 0 };
  view.first = view.last = Math.floor(hit.chunk_index / PER_PAGE) + 1;
  try {
    await around(view);
  } catch (error) {
    if (error.name === "AbortError") return;
    place.replaceChildren(problem(error, () => showNeighbours(place, hit, { words, note, signal })));
    return;
  }
  if (signal.aborted) return;
  if (hit.chunk_id && !view.list.querySelector(".cited")) alone(view);
  if (!view.list.children.length) view.list.append(el("p", { class: "note" }, "This document has no text."));
  const said = note && el("p", { class: "note" }, note);
  place.replaceChildren(...[said, earlier(view), view.list, later(view)].filter(Boolean));
  view.list.querySelector(".cited")?.scrollIntoView({ block: "center" });
}

/** The page of chunks that holds the passage, and the next to it where the passage stands at its edge. */
async function around(view) {
  await add(view, view.first);
  const at = view.hit.chunk_index % PER_PAGE;
  if (at === 0 && view.first > 1) await add(view, view.first - 1);
  if (at === PER_PAGE - 1 && hasLater(view)) await add(view, view.last + 1);
}

/** The document was replaced meanwhile, or parts of it are hidden from this person: what was found stands alone. */
function alone(view) {
  view.list.replaceChildren(shownChunk(view.hit, view));
  view.first = 1;
  view.total = 0;
}

async function add(view, page) {
  const path = query(`documents/${view.hit.document_id}/chunks`, { page, per_page: PER_PAGE });
  const answer = await get(path, { signal: view.signal });
  const shown = answer.chunks.map((chunk) => shownChunk(chunk, view));
  if (page < view.first) view.list.prepend(...shown);
  else view.list.append(...shown);
  view.total = answer.total;
  view.first = Math.min(view.first, page);
  view.last = Math.max(view.last, page);
  headings(view.list);
  return shown;
}

function shownChunk(chunk, { hit, words }) {
  const cited = hit.chunk_id !== null && (chunk.id ?? chunk.chunk_id) === hit.chunk_id;
  const heading = el("h3", {}, el("bdi", {}, sections(chunk).map(shownName).join(" › ")));
  const attributes = cited ? { class: "cited", role: "group", "aria-label": "The passage found" } : {};
  return el("div", attributes, heading, passage(chunk, cited ? words : undefined));
}

/** A section's heading stands before its first passage only. */
function headings(list) {
  let before = "";
  for (const heading of list.querySelectorAll("h3")) {
    heading.hidden = heading.textContent === before || !heading.textContent;
    before = heading.textContent;
  }
}

const hasEarlier = (view) => view.first > 1;
const hasLater = (view) => view.last * PER_PAGE < view.total;
const earlier = (view) => more("Earlier text", view, () => view.first - 1, hasEarlier);
const later = (view) => more("Later text", view, () => view.last + 1, hasLater);

/** A button that adds the page `which()`; it stays while `left(view)`, else the focus goes to what it added. */
function more(text, view, which, left) {
  if (!left(view)) return null;
  const trouble = el("div");
  const load = async () => {
    trouble.replaceChildren();
    try {
      const added = await add(view, which());
      if (left(view)) return;
      added.at(-1)?.setAttribute("tabindex", "-1");
      added.at(-1)?.focus();
      control.remove();
    } catch (error) {
      if (error.name !== "AbortError") trouble.replaceChildren(problem(error, load));
    }
  };
  const control = el("div", {}, button(text, load), trouble);
  return control;
}

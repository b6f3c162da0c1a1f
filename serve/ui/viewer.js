// The cited place: the page as a picture with the passage marked, or the passage among its neighbours.
// A modal dialog: Escape closes it and the browser gives the focus back to what opened it.

import { get, picture, query } from "./api.js";
import { $, announce, el, loading, problem, shownName } from "./dom.js";
import { showNeighbours } from "./neighbours.js";
import { citation } from "./passage.js";
import { pixelsPerPoint } from "./png.js";

// Formats whose pages the server draws; those of others (slides, sheets) are shown as text.
const DRAWN = ["pdf", "png", "jpg", "tiff", "bmp", "webp", "gif", "heic"];

let shown = null; // {hit, words, page (null: nothing to draw), last, stop, link, scale}

export function startViewer() {
  const dialog = $("viewer");
  $("viewer-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", forget);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // the backdrop
  $("as-page").addEventListener("click", () => showPage(shown.page));
  $("as-text").addEventListener("click", () => showText());
  $("page-before").addEventListener("click", () => showPage(shown.page - 1));
  $("page-after").addEventListener("click", () => showPage(shown.page + 1));
  $("zoom").addEventListener("click", zoom);
}

/** The page where `hit` begins; null when it has none that can be drawn. */
export function firstPage(hit) {
  return DRAWN.includes(hit.source_format) ? (hit.boxes?.[0]?.[0] ?? hit.page_numbers?.[0] ?? null) : null;
}

/** Open `hit` (or a document without `chunk_id`) where it is cited. */
export function openViewer(hit, words) {
  const first = firstPage(hit);
  shown = { hit, words, page: first, last: null, stop: new AbortController(), link: null, scale: null };
  $("viewer-heading").replaceChildren(el("bdi", {}, shownName(hit.title || hit.filename)));
  $("viewer-citation").replaceChildren(...citation(hit));
  $("viewer").showModal();
  press("zoom", false);
  if (first === null) return showText();
  learnLength(shown);
  return showPage(first);
}

/** A document (as the API shows it) to be opened at its beginning. */
export function fromStart(found) {
  return { ...found, document_id: found.id, chunk_id: null, chunk_index: 0, page_numbers: found.page_count ? [1] : [] };
}

function forget() {
  shown?.stop.abort();
  if (shown?.link) URL.revokeObjectURL(shown.link);
  shown = null;
  $("viewer-body").replaceChildren();
}

const press = (id, on) => $(id).setAttribute("aria-pressed", String(on));

/** Ends what the viewer is loading and tells which of the two views is on. */
function begin(asPage) {
  shown.stop.abort();
  shown.stop = new AbortController();
  press("as-page", asPage);
  press("as-text", !asPage);
  $("as-page").disabled = shown.page === null;
  $("page-tools").hidden = $("zoom").hidden = !asPage;
  return shown.stop.signal;
}

async function showPage(page) {
  shown.page = page;
  const signal = begin(true);
  const { hit } = shown;
  numbers();
  $("viewer-body").replaceChildren(loading(`Loading page ${page} …`));
  try {
    const path = `documents/${hit.document_id}/pages/${page}`;
    const blob = await picture(query(path, { chunk_id: hit.chunk_id }), { signal });
    const scale = await pixelsPerPoint(blob);
    if (!signal.aborted) showPicture(blob, page, scale);
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.passing) $("viewer-body").replaceChildren(problem(error, () => showPage(page)));
    else showText(`There is no picture of this page (${error.message}). This is its text.`);
  }
}

function showPicture(blob, page, scale) {
  const { hit } = shown;
  const cited = hit.chunk_id && (hit.page_numbers ?? []).includes(page);
  if (shown.link) URL.revokeObjectURL(shown.link);
  shown.link = URL.createObjectURL(blob);
  shown.scale = scale;
  const marked = cited ? ", the passage found is marked. Its words are under Text." : "";
  const alt = `Page ${page} of ${shownName(hit.filename)}${marked}`;
  const image = el("img", { alt, src: shown.link, class: "page" });
  $("viewer-body").replaceChildren(image);
  image.addEventListener("load", () => (bringIntoView(image, page), announce(`Page ${page}`, $("viewer-live"))));
}

/** Scrolls to the passage. Boxes are in points from the page's top left, the picture's scale is its own. */
function bringIntoView(image, page) {
  const box = (shown?.hit.boxes ?? []).find(([on]) => on === page);
  const body = $("viewer-body");
  if (!box || !shown.scale) return;
  const perPoint = (shown.scale * image.clientWidth) / image.naturalWidth;
  body.scrollTop = Math.max(0, box[2] * perPoint - body.clientHeight / 4);
  body.scrollLeft = Math.max(0, box[1] * perPoint - body.clientWidth / 4);
}

function numbers() {
  const { page, last } = shown;
  $("page-number").textContent = last ? `Page ${page} of ${last}` : `Page ${page}`;
  $("page-before").disabled = page <= 1;
  $("page-after").disabled = !last || page >= last;
}

async function learnLength(mine) {
  try {
    mine.last = (await get(`documents/${mine.hit.document_id}`)).page_count;
    if (shown === mine) numbers();
  } catch {
    // Only the buttons to other pages need it; what is wrong with the document shows with its page.
  }
}

function showText(note = "") {
  const signal = begin(false);
  return showNeighbours($("viewer-body"), shown.hit, { words: shown.words, note, signal });
}

function zoom() {
  const on = $("zoom").getAttribute("aria-pressed") !== "true";
  press("zoom", on);
  $("viewer-body").classList.toggle("full", on);
  const image = $("viewer-body").querySelector("img");
  if (image) bringIntoView(image, shown.page);
}

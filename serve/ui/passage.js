// A passage of a document as elements, and its citation.

import { blocksOf } from "./blocks.js";
import { el, nameNode, shownName } from "./dom.js";
import { marked } from "./highlight.js";

const NOTHING = { words: [], pieces: [] };

/** The text of a chunk or hit, the query's words marked. Its heading is left to the citation. */
export function passage(chunk, words = NOTHING) {
  const text = withoutPrefix(chunk.content, chunk.section_heading);
  const code = chunk.element_type === "code" && !/^\s*(`{3}|~{3})/m.test(text); // a part of a program
  const blocks = code ? [{ kind: "code", text }] : blocksOf(text);
  const lang = /^[a-z]{2,3}$/.test(chunk.language) && chunk.language; // for the voices of screen readers
  return el(
    "div",
    { class: "passage", dir: "auto", lang },
    blocks.map((block) => SHOWN[block.kind](block, words)),
  );
}

const SHOWN = {
  heading: ({ text }, words) => el("p", { class: "inner" }, marked(text, words)),
  paragraph: ({ text }, words) => el("p", {}, marked(text, words)),
  list: ({ items }, words) =>
    el(
      "ul",
      {},
      items.map((item) => el("li", {}, marked(item, words))),
    ),
  code: ({ text }, words) => el("pre", wide("Code"), el("code", {}, marked(text, words))),
  table: ({ head, rows }, words) =>
    el(
      "div",
      { class: "wide", ...wide("Table") },
      el("table", {}, lines("thead", "th", head, words), lines("tbody", "td", rows, words)),
    ),
};

/** What may be wider than the screen scrolls by itself, by keyboard too. */
const wide = (label) => ({ tabindex: "0", role: "group", "aria-label": label });

const lines = (part, cell, rows, words) =>
  rows.length > 0 &&
  el(
    part,
    {},
    rows.map((texts) =>
      el(
        "tr",
        {},
        texts.map((text) => el(cell, {}, marked(text, words))),
      ),
    ),
  );

/** Heading prefixes ("## Heading") are for the embedder; people see the heading in the citation. */
function withoutPrefix(content, heading) {
  const [first, ...rest] = content.split("\n");
  return heading && first.startsWith("## ") && rest.length ? rest.join("\n") : content;
}

export const sections = (hit) => (hit.section_path?.length ? hit.section_path : [hit.section_heading]).filter(Boolean);

function pages(numbers) {
  if (!numbers?.length) return "";
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  return first === last ? `page ${first}` : `pages ${first}–${last}`;
}

/** The citation as nodes: file, page, section. */
export function citation(hit) {
  const where = pages(hit.page_numbers);
  const headings = sections(hit);
  return [
    nameNode(hit.filename),
    where && el("span", {}, `, ${where}`),
    headings.length > 0 && el("span", {}, ", ", el("bdi", {}, headings.map(shownName).join(" › "))),
  ].filter(Boolean);
}

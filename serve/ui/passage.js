// A passage of a document as elements: paragraphs, tables from pipe rows, code as it stands. And its citation.

import { el, nameNode, shownName } from "./dom.js";
import { marked } from "./highlight.js";

const NOTHING = { words: [], pieces: [] };
const RULE = /^\|(\s*:?-+:?\s*\|)+\s*$/;
const BAR = /(?<!\\)\|/;

/** The text of a chunk or hit, the query's words marked. Its heading is left to the citation. */
export function passage(chunk, words = NOTHING) {
  const text = withoutPrefix(chunk.content, chunk.section_heading);
  if (chunk.element_type === "code") {
    return el("pre", { tabindex: "0", role: "region", "aria-label": "Code" }, el("code", {}, marked(text, words)));
  }
  const blocks = text.split(/\n{2,}/).filter((block) => block.trim());
  return el("div", { class: "passage", dir: "auto" }, blocks.flatMap((block) => shownBlock(block, words)));
}

/** Heading prefixes ("## Heading") are for the embedder; people see the heading in the citation. */
function withoutPrefix(content, heading) {
  const [first, ...rest] = content.split("\n");
  return heading && first.startsWith("## ") && rest.length ? rest.join("\n").replace(/^\n+/, "") : content;
}

function shownBlock(block, words) {
  const lines = block.split("\n");
  const from = lines.findIndex((line) => line.startsWith("|"));
  const rows = from < 0 ? [] : lines.slice(from);
  if (rows.length < 2 || !rows.every((line) => line.startsWith("|"))) return [el("p", {}, marked(block, words))];
  const before = lines.slice(0, from).join("\n");
  return [before && el("p", {}, marked(before, words)), table(rows, words)];
}

function table(lines, words) {
  const rule = lines.findIndex((line) => RULE.test(line));
  const rows = lines.filter((_, n) => n !== rule).map(cells);
  const row = (tag) => (texts) => el("tr", {}, texts.map((text) => el(tag, {}, marked(text, words))));
  const heads = rule > 0 && rows.slice(0, rule).some((texts) => texts.some(Boolean)) ? rule : 0;
  return el(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" },
    el("table", {}, heads > 0 && el("thead", {}, rows.slice(0, heads).map(row("th"))), el("tbody", {}, rows.slice(rule > 0 ? rule : 0).map(row("td")))),
  );
}

const cells = (line) => line.trim().split(BAR).slice(1, -1).map((cell) => cell.trim().replaceAll("\\|", "|"));

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

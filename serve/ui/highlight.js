// Marks the words of a query in a text. The marks are elements around text nodes.

import { el } from "./dom.js";

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
// English words that stand in most passages: marking them hides the others.
const COMMON = new Set(
  (
    "a an and are as at be but by can could did do does for from had has have how i if in into is it its me my no " +
    "not " +
    "of on or our so than that the their them then there these they this to was we were what when where which who " +
    "why will with would you your"
  ).split(" "),
);

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** What to look for: folded words, and pieces to be found inside words (identifiers, unspaced scripts). */
export function wordsOf(query) {
  const all = [...new Set((query.match(WORD) ?? []).map(fold))];
  const telling = all.filter((word) => !COMMON.has(word));
  const words = telling.length ? telling : all;
  const pieces = query
    .split(/\s+/)
    .filter((part) => (/[\d\-_/.]/.test(part) && part.length > 2) || UNSPACED.test(part));
  return {
    words,
    pieces: pieces.map((part) => part.toLowerCase().replace(/^[.,;:!?]+|[.,;:!?]+$/g, "")).filter(Boolean),
  };
}

/** The text as nodes, with what matches inside `mark`. */
export function marked(text, { words, pieces }) {
  const nodes = [];
  let at = 0;
  for (const [start, end] of merged([...wholeWords(text, words), ...inside(text, pieces)])) {
    nodes.push(text.slice(at, start), el("mark", {}, text.slice(start, end)));
    at = end;
  }
  return [...nodes, text.slice(at)].filter((node) => node !== "");
}

function wholeWords(text, words) {
  const found = [];
  for (const match of text.matchAll(WORD)) {
    const folded = fold(match[0]);
    if (words.some((word) => alike(word, folded))) found.push([match.index, match.index + match[0].length]);
  }
  return found;
}

/** The same word, or two of its forms: a common beginning with short different endings. */
function alike(one, other) {
  if (one === other) return true;
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (short.length < 4 || long.length - short.length > 3) return false;
  if (short.length === 4) return long.startsWith(short) && /^(s|es|ed|d|ing|n|en|e)$/.test(long.slice(4));
  let same = 0;
  while (same < short.length && short[same] === long[same]) same += 1;
  return same >= 5 && short.length - same <= 1 && long.length - same <= 3;
}

function inside(text, pieces) {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return []; // positions would not be the text's
  const found = [];
  for (const piece of pieces) {
    for (let at = lower.indexOf(piece); at >= 0; at = lower.indexOf(piece, at + piece.length)) {
      found.push([at, at + piece.length]);
    }
  }
  return found;
}

function merged(ranges) {
  const result = [];
  for (const [start, end] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}

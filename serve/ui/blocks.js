// The blocks of a passage as the engine writes text: headings with #, lists, pipe tables, fenced code, paragraphs.

const FENCE = /^\s*(`{3,}|~{3,})/;
const HEADING = /^#{1,6} +(.+)$/;
const ITEM = /^\s*(?:[-*+•]|(\d{1,4}[.)])) +(.*)$/;
const RULE = /^\|(\s*:?-+:?\s*\|)+\s*$/;
const BAR = /(?<!\\)\|/;

/** [{kind: "heading" | "paragraph" | "code", text} | {kind: "list", items} | {kind: "table", head, rows}, …] */
export function blocksOf(text) {
  const lines = text.split("\n");
  const found = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const [block, next] = take(lines, at);
    found.push(block);
    at = next;
  }
  return found;
}

/** The block that begins at line `at`, and the line after it. */
function take(lines, at) {
  const fence = FENCE.exec(lines[at])?.[1];
  if (fence) return takeCode(lines, at, fence);
  const heading = HEADING.exec(lines[at]);
  if (heading) return [{ kind: "heading", text: heading[1] }, at + 1];
  const table = end(lines, at, (line) => line.startsWith("|"));
  if (table - at > 1) return [tableOf(lines.slice(at, table)), table];
  const list = end(lines, at, (line) => ITEM.test(line));
  if (list > at) return [{ kind: "list", items: lines.slice(at, list).map(itemOf) }, list];
  const stop = Math.max(
    at + 1,
    end(lines, at, (line, n) => line.trim() && (n === at || !begins(lines, n))),
  );
  return [{ kind: "paragraph", text: lines.slice(at, stop).join("\n") }, stop];
}

function end(lines, from, belongs) {
  let at = from;
  while (at < lines.length && belongs(lines[at], at)) at += 1;
  return at;
}

/** Whether something else than a paragraph begins at this line. */
function begins(lines, at) {
  const line = lines[at];
  const table = line.startsWith("|") && lines[at + 1]?.startsWith("|");
  return table || FENCE.test(line) || HEADING.test(line) || ITEM.test(line);
}

function takeCode(lines, at, fence) {
  const stop = end(lines, at + 1, (line) => !line.trim().startsWith(fence));
  return [{ kind: "code", text: lines.slice(at + 1, stop).join("\n") }, stop + 1];
}

function itemOf(line) {
  const [, number, text] = ITEM.exec(line);
  return number ? `${number} ${text}` : text;
}

function tableOf(lines) {
  const rule = lines.findIndex((line) => RULE.test(line));
  const rows = lines.filter((_, n) => n !== rule).map(cells);
  const heads = rows.slice(0, Math.max(0, rule)).some((row) => row.some(Boolean)) ? rule : 0;
  return { kind: "table", head: rows.slice(0, heads), rows: rows.slice(Math.max(0, rule)) };
}

const cells = (line) =>
  line
    .trim()
    .split(BAR)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

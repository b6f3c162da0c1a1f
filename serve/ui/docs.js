// The API's description, readable: /openapi.json as headings, tables and examples. No other host is asked.

import { $, el, problem } from "./dom.js";
import { requestExample } from "./docs_example.js";
import { named, schemaTable, typeNodes } from "./docs_schema.js";

async function start() {
  try {
    const answer = await fetch("openapi.json");
    if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
    show(await answer.json());
  } catch (error) {
    $("reference").replaceChildren(problem(error, start));
  }
}

function show(api) {
  const groups = grouped(api);
  const schemas = Object.entries(api.components?.schemas ?? {});
  $("reference").replaceChildren(
    ...prose(api.info.description),
    contents(groups),
    ...[...groups].map(([tag, operations]) => group(tag, operations, api)),
    el(
      "section",
      {},
      el("h2", { id: "schemas" }, "Records"),
      schemas.map(([name, schema]) => record(name, schema)),
    ),
  );
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

/** tag → operations, in the order of the description. */
function grouped(api) {
  const groups = new Map();
  for (const [path, operations] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const tag = operation.tags?.[0] ?? "other";
      const id = `${method}-${path}`.replace(/\W+/g, "-").replace(/-$/, "");
      groups.set(tag, [...(groups.get(tag) ?? []), { path, method, operation, id }]);
    }
  }
  return groups;
}

function contents(groups) {
  const links = ({ id, method, path }) => el("li", {}, el("a", { href: `#${id}` }, title(method, path)));
  const lists = [...groups].map(([tag, operations]) => el("li", {}, tag, el("ul", {}, operations.map(links))));
  return el(
    "nav",
    { class: "contents", "aria-label": "Contents" },
    el("ul", {}, lists, el("li", {}, el("a", { href: "#schemas" }, "Records"))),
  );
}

const title = (method, path) => el("code", {}, el("b", {}, method.toUpperCase()), ` ${path}`);

const group = (tag, operations, api) =>
  el(
    "section",
    {},
    el("h2", {}, tag),
    operations.map((one) => shownOperation(one, api)),
  );

function shownOperation({ path, method, operation, id }, api) {
  return el(
    "article",
    { class: "item", "aria-labelledby": id },
    el("h3", { id }, title(method, path)),
    prose(operation.description ?? operation.summary),
    parameters(operation.parameters),
    body(operation.requestBody),
    example(path, method, operation, api),
    answers(operation.responses),
  );
}

/** Paragraphs; `code` between backticks. */
function prose(text = "") {
  const parts = (part) => part.split("`").map((piece, n) => (n % 2 ? el("code", {}, piece) : piece));
  return text
    .split(/\n{2,}/)
    .filter(Boolean)
    .map((part) => el("p", {}, parts(part)));
}

function parameters(given = []) {
  if (!given.length) return null;
  const rows = given.map((one) => [
    el("code", {}, one.name),
    `${one.in}${one.required ? ", required" : ""}`,
    typeNodes(one.schema),
    one.description ?? one.schema?.description ?? "",
  ]);
  return [el("h4", {}, "Parameters"), named(["Name", "Where", "Type", "Meaning"], rows, "Parameters")];
}

function body(requestBody) {
  const [kind, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (!content) return null;
  const shown = content.schema.properties ? schemaTable(content.schema) : el("p", {}, typeNodes(content.schema));
  return [el("h4", {}, "Body, ", el("code", {}, kind)), shown];
}

function example(path, method, operation, api) {
  const text = requestExample(path, method, operation, api, new URL(".", document.baseURI).origin);
  return [
    el("h4", {}, "Example"),
    el("pre", { tabindex: "0", role: "group", "aria-label": "Example" }, el("code", {}, text)),
  ];
}

function answers(responses) {
  const rows = Object.entries(responses).map(([status, answer]) => {
    const [kind, content] = Object.entries(answer.content ?? {})[0] ?? [];
    return [el("code", {}, status), answer.description, content?.schema ? typeNodes(content.schema) : (kind ?? "")];
  });
  return [el("h4", {}, "Answers"), named(["Status", "When", "What"], rows, "Answers")];
}

function record(name, schema) {
  const example = schema.example ?? schema.examples?.[0];
  const json =
    example &&
    el(
      "pre",
      { tabindex: "0", role: "group", "aria-label": `Example of ${name}` },
      el("code", {}, JSON.stringify(example, null, 2)),
    );
  return el(
    "article",
    { class: "item", "aria-labelledby": `record-${name}` },
    el("h3", { id: `record-${name}` }, el("code", {}, name)),
    prose(schema.description),
    schema.properties ? schemaTable(schema) : el("p", {}, typeNodes(schema)),
    json,
  );
}

start();

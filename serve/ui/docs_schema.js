// JSON Schemas in words: the type of a value, the fields of a record.

import { el } from "./dom.js";

/** A table with row headers that scrolls by itself where the screen is narrow. */
export function named(heads, rows, label) {
  const body = rows.map(([first, ...rest]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, first),
      rest.map((cell) => el("td", {}, cell)),
    ),
  );
  const head = el(
    "tr",
    {},
    heads.map((text) => el("th", { scope: "col" }, text)),
  );
  return el(
    "div",
    { class: "wide", tabindex: "0", role: "group", "aria-label": label },
    el("table", {}, el("thead", {}, head), el("tbody", {}, body)),
  );
}

export function schemaTable(schema) {
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties).map(([name, field]) => [
    el("code", {}, name),
    [...typeNodes(field), required.has(name) ? ", required" : "", bounds(field)],
    [field.description, defaulted(field)].filter(Boolean).join("; "),
  ]);
  return named(["Field", "Type", "Meaning"], rows, `Fields of ${schema.title ?? "the body"}`);
}

/** What kind of value, as nodes; other records as links. */
export function typeNodes(schema) {
  if (typeof schema !== "object") return ["anything"]; // true, or left out
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return [el("a", { href: `#record-${name}` }, name)];
  }
  const options = schema.anyOf ?? schema.oneOf ?? (schema.allOf?.length === 1 ? schema.allOf : null);
  if (options) return joined(options.map(typeNodes), " or ");
  if (schema.enum)
    return joined(
      schema.enum.map((value) => [el("code", {}, JSON.stringify(value))]),
      " | ",
    );
  if ("const" in schema) return [el("code", {}, JSON.stringify(schema.const))];
  if (schema.type === "array") return ["list of ", ...typeNodes(schema.items)];
  if (schema.type === "object" && typeof schema.additionalProperties === "object")
    return ["object of ", ...typeNodes(schema.additionalProperties)];
  return [[schema.type ?? "anything", schema.format].filter(Boolean).join(", ")];
}

const joined = (lists, mark) => lists.flatMap((nodes, n) => (n ? [mark, ...nodes] : nodes));

const BOUNDS = {
  minimum: "≥",
  maximum: "≤",
  exclusiveMinimum: ">",
  exclusiveMaximum: "<",
  minLength: "length ≥",
  maxLength: "length ≤",
};

function bounds(field) {
  const of = [field, ...(field.anyOf ?? [])];
  const found = Object.entries(BOUNDS).map(([key, sign]) => {
    const holder = of.find((one) => one[key] !== undefined);
    return holder && `${sign} ${holder[key].toLocaleString("en")}`;
  });
  const shown = found.filter(Boolean).join(", ");
  return shown && ` (${shown})`;
}

function defaulted(field) {
  const plain = ["string", "number", "boolean"].includes(typeof field.default) && field.default !== "";
  return plain ? `default ${field.default}` : "";
}

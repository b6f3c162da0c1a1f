// A request to copy into a shell, for each operation.

const SAMPLES = { document_id: "550e8400-e29b-41d4-a716-446655440000", project_id: "contracts", n: "1", page: "1" };

export function requestExample(path, method, operation, api, origin) {
  const url = origin + path.replace(/\{(\w+)\}/g, (_, name) => SAMPLES[name] ?? name.toUpperCase()) + needed(operation);
  const secured = (operation.security ?? api.security ?? []).length > 0;
  const lines = [
    `curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}'${url}'`,
    secured && `-H "Authorization: Bearer $CORPUS_TOKEN"`,
    ...bodyLines(operation.requestBody, api),
  ];
  return lines.filter(Boolean).join(" \\\n  ");
}

function needed(operation) {
  const names = (operation.parameters ?? []).filter((one) => one.in === "query" && one.required).map((one) => one.name);
  const given = names.map((name) => `${name}=${SAMPLES[name] ?? name.toUpperCase()}`);
  return given.length ? `?${given.join("&")}` : "";
}

function bodyLines(requestBody, api) {
  const [kind, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (!content) return [];
  if (kind.startsWith("multipart/")) return formLines(content.schema);
  const value = content.example ?? exampleOf(content.schema, api.components?.schemas ?? {});
  return [`-H 'Content-Type: ${kind}'`, `-d '${JSON.stringify(value).replaceAll("'", "'\\''")}'`];
}

function formLines(schema) {
  const file = (name) =>
    ["file", "files"].includes(name)
      ? `-F '${name}=@report.pdf'`
      : `-F '${name}=${SAMPLES[name] ?? name.toUpperCase()}'`;
  return (schema.required ?? []).map(file);
}

/** A value that fits: the schema's own example, else one of its required fields. */
function exampleOf(schema, all) {
  if (schema.$ref) return exampleOf(all[schema.$ref.split("/").at(-1)] ?? {}, all);
  const given = schema.example ?? schema.examples?.[0] ?? schema.default;
  if (given !== undefined) return given;
  if (schema.enum) return schema.enum[0];
  if (schema.properties) {
    const required = (schema.required ?? []).filter((name) => schema.properties[name]);
    return Object.fromEntries(required.map((name) => [name, SAMPLES[name] ?? exampleOf(schema.properties[name], all)]));
  }
  return { array: [], object: {}, integer: 1, number: 1, boolean: true }[schema.type] ?? "…";
}

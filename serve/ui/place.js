// Where the person is: project, view and search, kept in the address behind `#`, so that a link leads there.

const REMEMBERED = "corpus.project";

/** `#/project/view?parameters` taken apart. */
export function place() {
  const [path, parameters = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [slug = "", view = ""] = path.split("/").map(decoded);
  return { slug, view: view === "documents" ? "documents" : "search", parameters: new URLSearchParams(parameters) };
}

export function address(slug, view, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value);
  const tail = given.length ? `?${new URLSearchParams(given)}` : "";
  return `#/${encodeURIComponent(slug)}/${view}${tail}`;
}

/** The project of the last visit, for when the address names none. */
export function remembered() {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null; // storage is switched off
  }
}

export function remember(slug) {
  try {
    localStorage.setItem(REMEMBERED, slug);
  } catch {
    // storage is switched off: the next visit begins with the first project
  }
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a lone % that somebody typed
  }
}

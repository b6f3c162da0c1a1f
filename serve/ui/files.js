// The files that were dropped, those inside dropped folders included.

const MOST = 5000;

/** Files of a drop. Must be called in the event itself: afterwards the browser empties it. */
export function dropped(transfer) {
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.()).filter(Boolean);
  return entries.length ? walk(entries) : Promise.resolve(Array.from(transfer.files));
}

async function walk(entries) {
  const files = [];
  const waiting = [...entries];
  while (waiting.length && files.length < MOST) {
    const entry = waiting.shift();
    if (entry.isDirectory) waiting.push(...(await children(entry)));
    else files.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
  }
  return files;
}

/** A reader gives a folder's entries in portions, an empty one at the end. */
async function children(folder) {
  const reader = folder.createReader();
  const found = [];
  for (;;) {
    const portion = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!portion.length) return found;
    found.push(...portion);
  }
}

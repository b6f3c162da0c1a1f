// How large a page's picture is: its resolution stands in the PNG itself (chunk pHYs, W3C PNG 11.3.4.3).

const SIGNATURE = 8; // bytes in front of the first chunk
const POINTS_PER_METRE = 72 / 0.0254;

/** Pixels for one point (1/72 inch) of the page; null when the picture does not say. */
export async function pixelsPerPoint(blob) {
  const bytes = new DataView(await blob.slice(0, 1024).arrayBuffer());
  let at = SIGNATURE;
  while (at + 17 <= bytes.byteLength) {
    const name = String.fromCharCode(...new Uint8Array(bytes.buffer, at + 4, 4));
    const metres = bytes.getUint8(at + 16) === 1;
    if (name === "pHYs") return metres ? bytes.getUint32(at + 8) / POINTS_PER_METRE : null;
    at += 12 + bytes.getUint32(at); // length, name, content, checksum
  }
  return null;
}

/**
 * Order of two strings by code point, which is also the order of their UTF-8 bytes. JavaScript's own `<` compares UTF-16 units
 * and so puts the astral planes before U+E000..U+FFFF.
 *
 * @returns a negative number, zero or a positive number, as `Array.prototype.sort` expects
 */
export function compareCodePoints(left: string, right: string): number {
  const shared = Math.min(left.length, right.length);
  for (let at = alike(left, right, shared); at < shared; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

const STRIDE = 256;

/** A common prefix length of two strings, found in strides: comparing substrings is much faster than comparing characters. */
function alike(left: string, right: string, shared: number): number {
  let at = 0;
  while (at + STRIDE <= shared && left.slice(at, at + STRIDE) === right.slice(at, at + STRIDE)) at += STRIDE;
  return at;
}

/** Maps surrogates above the rest of the basic plane, so that they sort by the code points they encode. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/**
 * Order of two texts by code point, which is also the order of their UTF-8 bytes. JavaScript's own `<` compares UTF-16 units
 * and so puts the astral planes before U+E000..U+FFFF.
 *
 * @returns a negative number, zero or a positive number, as `Array.prototype.sort` wants it
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

/** A length to which two texts are alike, found in strides: whole pieces are compared much faster than characters. */
function alike(left: string, right: string, shared: number): number {
  let at = 0;
  while (at + STRIDE <= shared && left.slice(at, at + STRIDE) === right.slice(at, at + STRIDE)) at += STRIDE;
  return at;
}

/** Lifts surrogates above the rest of the basic plane, where the code points they stand for belong. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

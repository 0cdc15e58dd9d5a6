/**
 * Order of two texts by code point, which is also the order of their UTF-8 bytes. JavaScript's own `<` compares UTF-16 units
 * and so puts the astral planes before U+E000..U+FFFF.
 *
 * @returns a negative number, zero or a positive number, as `Array.prototype.sort` wants it
 */
export function compareCodePoints(left: string, right: string): number {
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** Lifts surrogates above the rest of the basic plane, where the code points they stand for belong. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

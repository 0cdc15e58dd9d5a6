/** Bytes of a string in UTF-8; a lone surrogate counts as the three bytes of its replacement. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // Each surrogate of a pair counts two of its four bytes.
    bytes += unit < 0x800 || isPaired(text, at, unit) ? 1 : 2;
  }
  return bytes;
}

function isPaired(text: string, at: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdfff) return false;
  if (unit < 0xdc00) return isLow(text.charCodeAt(at + 1));
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

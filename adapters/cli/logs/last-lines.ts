const lineFeed = 0x0a;

/**
 * Where the last `count` lines of a string begin. Undefined if the string has too few line feeds: its first
 * line may be truncated, or it has fewer lines. A final line feed ends the last line and does not start another.
 */
export function startOfLastLines(text: Uint8Array, lines: number): number | undefined {
  if (lines === 0) return text.length;
  let missing = lines;
  for (let at = text.length - 2; at >= 0; at -= 1) {
    if (text[at] !== lineFeed) continue;
    missing -= 1;
    if (missing === 0) return at + 1;
  }
  return undefined;
}

/** Removes everything up to the first line feed from a sequence of chunks. */
export class BehindFirstLine {
  #found = false;

  rest(piece: Uint8Array): Uint8Array {
    if (this.#found) return piece;
    const end = piece.indexOf(lineFeed);
    if (end === -1) return piece.subarray(piece.length);
    this.#found = true;
    return piece.subarray(end + 1);
  }
}

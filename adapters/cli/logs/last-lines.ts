const lineFeed = 0x0a;

/**
 * Where the last so many lines of a string begin. Undefined when the text holds fewer line ends than that needs: its first
 * line may be cut, or there are not so many. A line feed at the end closes the last line, it begins none.
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

/** What follows the first line feed, over pieces. */
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

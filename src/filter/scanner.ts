/** A position in the expression, and the furthest failed expectation. */
export class Scanner {
  at = 0;
  /** The first definite error. */
  #mistake: { readonly offset: number; readonly message: string } | undefined;
  #furthest = 0;
  #expected = new Set<string>();

  constructor(readonly text: string) {}

  /** Reads a match of the sticky pattern; undefined, at an unchanged position, if there is none. */
  read(pattern: RegExp, expected: string): string | undefined {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [];
    if (found === undefined) {
      this.expect(expected);
      return undefined;
    }
    this.at += found.length;
    return found;
  }

  /** Reads exactly this word; no word boundary is required after it. */
  readWord(word: string): boolean {
    const isHere = this.text.startsWith(word, this.at);
    if (isHere) this.at += word.length;
    else this.expect(JSON.stringify(word));
    return isHere;
  }

  readSpace(): boolean {
    return this.read(SPACE, 'a space') !== undefined;
  }

  skipSpace(): void {
    this.readSpace();
  }

  isAtEnd(): boolean {
    const isEnd = this.at === this.text.length;
    if (!isEnd) this.expect('the end');
    return isEnd;
  }

  /** Tries a reader; if it fails, the position is restored. */
  attempt<T>(parse: () => T | undefined): T | undefined {
    const start = this.at;
    const result = this.#mistake === undefined ? parse() : undefined;
    if (result === undefined) this.at = start;
    return result;
  }

  /** Reports a definite error: no alternative is tried after it. */
  mistake(message: string, offset = this.at): undefined {
    this.#mistake ??= { offset, message };
    return undefined;
  }

  expect(what: string): void {
    if (this.at < this.#furthest) return;
    if (this.at > this.#furthest) this.#expected.clear();
    this.#furthest = this.at;
    this.#expected.add(what);
  }

  /** The syntax error and its position: that of the definite error, otherwise the furthest position reached. */
  get problem(): { readonly offset: number; readonly message: string } {
    if (this.#mistake !== undefined) return this.#mistake;
    const [character] = this.text.slice(this.#furthest);
    const found = character === undefined ? 'the end' : JSON.stringify(character);
    return { offset: this.#furthest, message: `expected ${listed([...this.#expected])}, found ${found}` };
  }
}

const SPACE = /[ \t\r\n]+/y;

function listed(items: readonly string[]): string {
  const sorted = [...items].sort();
  return sorted.length < 2 ? (sorted[0] ?? '') : `${sorted.slice(0, -1).join(', ')} or ${sorted.at(-1)}`;
}

/** A position in the text, and what would have been read further on. */
export class Scanner {
  at = 0;
  /** The first thing that cannot be meant otherwise. */
  #mistake: { readonly offset: number; readonly message: string } | undefined;
  #furthest = 0;
  #expected = new Set<string>();

  constructor(readonly text: string) {}

  /** Reads what the sticky pattern matches here; undefined without moving when it does not. */
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

  /** Reads exactly this word, wherever it ends. */
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

  /** Tries something that may read nothing: then the position is as before. */
  attempt<T>(parse: () => T | undefined): T | undefined {
    const start = this.at;
    const result = this.#mistake === undefined ? parse() : undefined;
    if (result === undefined) this.at = start;
    return result;
  }

  /** What was read cannot be meant otherwise, so nothing else is tried. */
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

  /** Why the text could not be read, and where: at the mistake, else as far as anything could be read. */
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

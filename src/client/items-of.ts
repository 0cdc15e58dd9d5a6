import type { Framing } from '../api/call.js';

/** The items of a stream: JSON values, or bytes as they arrive. Heartbeats (`{}`) are left out. */
export async function* itemsOf(body: ReadableStream<Uint8Array>, framing: Framing): AsyncGenerator<unknown> {
  const pieces = body.getReader();
  try {
    if (framing === 'bytes') {
      for (let next = await pieces.read(); !next.done; next = await pieces.read()) yield next.value;
      return;
    }
    const splitter = framing === 'lines' ? new Lines() : new JoinedObjects();
    const decoder = new TextDecoder();
    for (let next = await pieces.read(); !next.done; next = await pieces.read()) {
      yield* values(splitter.push(decoder.decode(next.value, { stream: true })));
    }
    yield* values(splitter.rest());
  } finally {
    await pieces.cancel().catch(() => undefined);
  }
}

function* values(texts: readonly string[]): Generator<unknown> {
  for (const text of texts) if (text.trim() !== '' && text !== '{}') yield JSON.parse(text);
}

class Lines {
  #begun = '';

  push(text: string): readonly string[] {
    const lines = (this.#begun + text).split('\n');
    this.#begun = lines.pop() ?? '';
    return lines;
  }

  rest(): readonly string[] {
    return [this.#begun];
  }
}

/** Splits a stream of JSON objects without separators. */
class JoinedObjects {
  #begun = '';
  #depth = 0;
  #inText = false;
  #escaped = false;

  push(text: string): readonly string[] {
    const found: string[] = [];
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      if (!this.#closes(text.charCodeAt(at))) continue;
      found.push(this.#begun + text.slice(from, at + 1));
      this.#begun = '';
      from = at + 1;
    }
    this.#begun += text.slice(from);
    return found;
  }

  rest(): readonly string[] {
    return [this.#begun];
  }

  /** Whether this character closes a top-level object. */
  #closes(code: number): boolean {
    if (this.#inText) {
      if (this.#escaped) this.#escaped = false;
      else if (code === backslash) this.#escaped = true;
      else if (code === quote) this.#inText = false;
      return false;
    }
    if (code === quote) this.#inText = true;
    else if (code === openBrace) this.#depth += 1;
    else if (code === closeBrace) {
      this.#depth -= 1;
      return this.#depth === 0;
    }
    return false;
  }
}

const backslash = 0x5c;
const quote = 0x22;
const openBrace = 0x7b;
const closeBrace = 0x7d;

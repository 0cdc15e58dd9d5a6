import { Stopped } from '../stopped.js';
import type { Terminal } from '../terminal.js';

/** Asks a yes-or-no question. */
export type Ask = (question: string) => Promise<boolean>;

/** Interactive questions, one line of input each. Anything but y and yes means no. */
export function asker({ streams, error }: Terminal): Ask {
  const { keyboard } = streams ?? {};
  if (streams === undefined || keyboard === undefined) {
    return async () => {
      throw new Stopped('cannot prompt: stdin is not a terminal (use -yes)', 2);
    };
  }
  let lines: AsyncGenerator<string> | undefined;
  return async (question) => {
    error(`${question} [y/N] `);
    lines ??= linesOf(streams.input());
    const line = await lines.next();
    return /^y(es)?$/i.test(String(line.value ?? '').trim());
  };
}

async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun = '';
  for await (const bytes of input) {
    const lines = (begun + decoder.decode(bytes, { stream: true })).split('\n');
    begun = lines.pop() ?? '';
    yield* lines;
  }
  yield begun;
}

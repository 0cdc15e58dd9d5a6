import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { asker } from '../../../adapters/cli/interactive/prompt.js';
import type { Keyboard, Terminal } from '../../../adapters/cli/terminal.js';

const keyboard: Keyboard = {
  setRaw: () => undefined,
  size: () => ({ rows: 24, columns: 80 }),
  onResize: () => () => undefined,
};

function terminalWith(input: readonly string[], told: string[], typing: Keyboard | undefined = keyboard): Terminal {
  return {
    out: () => undefined,
    error: (text) => void told.push(text),
    read: async () => '',
    colours: false,
    environment: {},
    streams: {
      input: () => Readable.from(input.map((text) => Buffer.from(text))),
      out: async () => undefined,
      error: async () => undefined,
      keyboard: typing,
    },
  };
}

describe('a question', () => {
  it('is answered by one line of input; only y and yes mean yes', async () => {
    const told: string[] = [];
    const ask = asker(terminalWith(['y\nn', 'o\nYes\n', '\n'], told));
    expect([await ask('one?'), await ask('two?'), await ask('three?'), await ask('four?')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(told[0]).toBe('one? [y/N] ');
    expect(await ask('after the end?')).toBe(false);
  });

  it('cannot be asked where nobody types', async () => {
    const told: string[] = [];
    const { streams: _streams, ...without } = terminalWith([], told);
    await expect(asker(without)('one?')).rejects.toThrow('cannot prompt: stdin is not a terminal (use -yes)');
    expect(told).toEqual([]);
  });
});

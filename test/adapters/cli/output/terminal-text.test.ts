import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forOutput, TerminalText } from '../../../../adapters/cli/output/terminal-text.js';

function shown(...pieces: readonly (string | Uint8Array)[]): string {
  const text = new TerminalText();
  return pieces.map((piece) => text.shown(Buffer.from(piece))).join('') + text.end();
}

const reset = '\u001b[0m';
/** Everything that a terminal obeys, line feeds, tabs and colours excepted. */
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const style = /\u001b\[[\d;:]*m/g;

describe('bytes of others on a terminal', () => {
  it.each<[string, string, string]>([
    ['text', 'one\n\ttwo é 漢 🙂\n', 'one\n\ttwo é 漢 🙂\n'],
    ['colours', `\u001b[1;31mred${reset} plain`, `\u001b[1;31mred${reset} plain`],
    ['a colour that is not ended', '\u001b[38;2;255;0;0mred', `\u001b[38;2;255;0;0mred${reset}`],
    ['a short reset', '\u001b[31mred\u001b[m', '\u001b[31mred\u001b[m'],
    ['clearing the screen', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
    [
      'the title and the clipboard',
      '\u001b]0;x\u0007\u001b]52;c;eA==\u0007',
      '\\u001b]0;x\\u0007\\u001b]52;c;eA==\\u0007',
    ],
    ['a question for an answer as if typed', '\u001b[6n\u001bP$q\u001b\\', '\\u001b[6n\\u001bP$q\\u001b\\'],
    ['controls of one byte', 'a\bb\u007fc\u009b2Jd', 'a\\bb\\u007fc\\u009b2Jd'],
    ['text that runs backwards', 'a\u202eb', 'a\\u202eb'],
    ['progress that overwrites itself', '10%\r50%\rdone\r\nnext\n', '10%\n50%\ndone\nnext\n'],
    ['an unfinished sequence at the end', 'a\u001b[3', 'a\\u001b[3'],
    ['a style that is none', `\u001b[${'1;'.repeat(40)}m`, `\\u001b[${'1;'.repeat(40)}m`],
  ])('%s', (_name, given, expected) => {
    expect(shown(given)).toBe(expected);
  });

  it('may be split anywhere', () => {
    const piece = fc.constantFrom(
      '\u001b',
      '[31',
      'm',
      '[0m',
      '[2J',
      '\r',
      '\n',
      'é',
      '🙂',
      'x',
      '\u009b',
      '\u001b[1m',
    );
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat({ max: 40 })), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(''));
        const at = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const parts = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(shown(...parts)).toBe(shown(bytes));
        expect(shown(bytes).replaceAll(style, '')).not.toMatch(obeyed);
      }),
    );
  });

  it('are shown when they come, also where they are no text', () => {
    const text = new TerminalText();
    expect(text.shown(Buffer.from('a\r'))).toBe('a\n');
    expect(text.shown(Buffer.from('\nb'))).toBe('b');
    expect(shown(Buffer.from([0x61, 0xff, 0x00, 0x62]))).toBe('a\ufffd\\u0000b');
  });

  it('stay as they are for files and pipes', async () => {
    async function* bytes() {
      yield Buffer.from([0xff, 0x1b, 0x5b]);
      yield Buffer.from('2J\r');
    }
    const taken = async (isTerminal: boolean): Promise<string> => {
      const pieces: Uint8Array[] = [];
      for await (const piece of forOutput({ isTerminal }, bytes())) pieces.push(piece);
      return Buffer.concat(pieces).toString('latin1');
    };
    expect(await taken(false)).toBe('\u00ff\u001b[2J\r');
    expect(await taken(true)).not.toMatch(/[\u001b\r]/);
  });
});

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellLine, shellWord } from '../../../../adapters/cli/commands/jobs/plan-command.js';

function asShellReads(line: string): string[] {
  const out = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
  return out.split('\0').slice(0, -1);
}

describe('a word for a shell', () => {
  it.each([
    ['job.nomad.hcl', 'job.nomad.hcl'],
    ['greeting=hello', 'greeting=hello'],
    ['greeting=hello world', "'greeting=hello world'"],
    ["it's", `'it'\\''s'`],
    ['', "''"],
    ['$HOME', "'$HOME'"],
    ['~/job.hcl', "'~/job.hcl'"],
    ['a\nb', "'a\nb'"],
  ])('%j is written %s', (word, written) => {
    expect(shellWord(word)).toBe(written);
  });

  it('is read by a shell as it was', () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...`'"\\$\`!*?[]{}()<>|&;#~ \t\n\r=-%`, 'a', 'é') }),
    );
    const words = fc.array(
      word.map((text) => Buffer.from(text.replaceAll('\0', '')).toString()),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(words, (each) => {
        expect(asShellReads(shellLine(each))).toEqual(each);
      }),
      { numRuns: 25 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outputTail, tailLength, tailLines } from '../../../src/agent/output/output-tail.js';

const nothing = { text: '', isCut: false };
const tail = (stdout: string, stderr = '', secrets: readonly string[] = [], isCut = false): string =>
  outputTail({ stdout: { text: stdout, isCut }, stderr: { text: stderr, isCut: false } }, secrets);
const numbered = (count: number, name = 'line'): string =>
  Array.from({ length: count }, (_, at) => `${name} ${at + 1}\n`).join('');

describe('the last lines of a task', () => {
  it.each<[string, string, string]>([
    ['output alone', tail('one\ntwo\n'), 'one\ntwo'],
    ['errors behind output', tail('out\n', 'err\n'), 'out\nerr'],
    ['nothing', tail(''), ''],
    ['a last line without its end', tail('one\ntwo'), 'one\ntwo'],
    ['indentation stays, empty lines go', tail('Error: x\n\n    at y\n'), 'Error: x\n    at y'],
    ['colours and commands of terminals', tail('\u001b[31mred\u001b[0m \u001b]0;title\u0007x\u001b[2K\n'), 'red x'],
    ['progress that overwrites itself', tail('10%\r50%\rdone\r\nnext\r\n'), 'done\nnext'],
    ['other control characters', tail('a\u0000b\u0007c\u202ed\u0085\n'), 'abcd'],
    ['half of a character', tail('\ud800x\n'), '\ufffdx'],
    ['a line whose beginning is not known', tail('ret-value\nwhole\n', '', [], true), 'whole'],
  ])('%s', (_name, given, expected) => {
    expect(given).toBe(expected);
  });

  it('are twenty, of the errors first', () => {
    expect(tail(numbered(50)).split('\n')).toEqual(numbered(50).trim().split('\n').slice(-tailLines));
    const both = tail(numbered(50, 'out'), numbered(5, 'err')).split('\n');
    expect([both.length, both[0], both[14], both.at(-1)]).toEqual([20, 'out 36', 'out 50', 'err 5']);
    expect(tail(numbered(50, 'out'), numbered(30, 'err'))).not.toContain('out');
  });

  it('are bounded, however long they are', () => {
    for (const text of ['x'.repeat(100_000), `${'y'.repeat(3000)}\n`.repeat(30)]) {
      const given = tail(text);
      expect(given.length).toBeGreaterThan(900);
      expect(given.length).toBeLessThanOrEqual(tailLength);
    }
  });

  it.each<[string, string, string]>([
    ['as it is', 'hunter2', 'password hunter2!'],
    ['quoted in JSON', 'a"b\\c', String.raw`{"p":"a\"b\\c"}`],
    ['encoded in a URL', 'p@ss/word', 'postgres://me:p%40ss%2Fword@db'],
    ['as base64', 'swordfish1', 'Basic c3dvcmRmaXNoMQ=='],
    ['a line of several', '-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----\n', 'read MIIEvQIBADANBg'],
    ['interrupted by colours', 'hunter2', 'hun\u001b[1mter2'],
  ])('show no value of a variable: %s', (_name, secret, line) => {
    const given = tail(`${line}\n`, '', [secret]);
    expect(given).toContain('[redacted]');
    for (const part of ['hunter2', 'a"b', 'p%40ss', 'c3dv', 'MIIE', 'ter2']) expect(given).not.toContain(part);
  });

  it('hold no secret wherever it stands', () => {
    const secret = fc.string({ minLength: 4, maxLength: 40 }).filter((text) => /^\S+$/.test(text));
    fc.assert(
      fc.property(secret, fc.array(fc.string({ maxLength: 60 }), { maxLength: 30 }), (value, lines) => {
        const text = lines.map((line) => `${line}${value}`).join('\n');
        const given = outputTail({ stdout: { text, isCut: false }, stderr: nothing }, [value]);
        expect(given.replaceAll('[redacted]', '')).not.toContain(value);
      }),
    );
  });
});

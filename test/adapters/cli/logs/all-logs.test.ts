import { expect, it } from 'vitest';
import { PrefixedLines } from '../../../../adapters/cli/logs/all-logs.js';

it('lines that come in pieces are written whole, each behind its prefix', () => {
  const lines = new PrefixedLines('a: ');
  const push = (text: string): string => lines.push(Buffer.from(text)).toString();
  expect(push('one\ntwo\nthr')).toBe('a: one\na: two\n');
  expect(push('ee')).toBe('');
  expect(push('\n\n')).toBe('a: three\na: \n');
  expect(push('rest')).toBe('');
  expect(lines.rest().toString()).toBe('a: rest\n');
  expect(lines.rest().toString()).toBe('');
});

it('a line without an end is not held for ever', () => {
  const lines = new PrefixedLines('a: ');
  expect(lines.push(Buffer.alloc(70_000, 'x')).length).toBe(70_003);
  expect(lines.rest().length).toBe(0);
});

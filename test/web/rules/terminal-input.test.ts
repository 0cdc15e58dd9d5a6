import { expect, it } from 'vitest';
import { mostInput, TerminalInput } from '../../../web/rules/terminal-input.js';

const bytes = (length: number, value = 0): Uint8Array => new Uint8Array(length).fill(value);
const partsOf = (input: TerminalInput): readonly (number | 'end')[] => {
  const parts: (number | 'end')[] = [];
  for (let part = input.next(); part !== undefined; part = input.next())
    parts.push(part === 'end' ? part : part.length);
  return parts;
};

it('input is sent in its order, in parts of at most 64 KiB, and then its end', () => {
  const input = new TerminalInput();
  input.add(bytes(3, 1));
  input.add(bytes(150_000, 2));
  input.end();
  expect(input.next()).toEqual(bytes(3, 1));
  expect(partsOf(input)).toEqual([65_536, 65_536, 150_000 - 2 * 65_536, 'end']);
  expect(input.next()).toBeUndefined();
});

it.each([
  { waiting: 0, more: mostInput, refusal: undefined },
  {
    waiting: 0,
    more: mostInput + 1,
    refusal: 'Not sent: 1,048,577 bytes at once are more than the 1 MiB that can be typed or pasted.',
  },
  {
    waiting: 0,
    more: 5_242_880,
    refusal: 'Not sent: 5,242,880 bytes at once are more than the 1 MiB that can be typed or pasted.',
  },
  { waiting: mostInput - 1, more: 1, refusal: undefined },
  {
    waiting: mostInput,
    more: 1,
    refusal: 'Not sent: the command does not read its input, and too much of it waits already.',
  },
])('$more bytes beside $waiting that wait: $refusal', ({ waiting, more, refusal }) => {
  const input = new TerminalInput();
  input.add(bytes(waiting));
  expect(input.refusalOf(more)).toBe(refusal);
});

it('what the connection has taken makes room', () => {
  const input = new TerminalInput();
  input.add(bytes(mostInput));
  expect(input.refusalOf(65_536)).toBeDefined();
  input.next();
  expect(input.refusalOf(65_536)).toBeUndefined();
  expect(input.refusalOf(65_537)).toBeDefined();
});

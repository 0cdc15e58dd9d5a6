import { describe, expect, it } from 'vitest';
import { handoverOf, isAllowedOrigin, isDark, renewalDelay } from '../../../web/screens/portal/handover.js';

describe('whose messages count', () => {
  const own = 'https://box.example';
  it.each([
    ['https://host.example', ['https://host.example'], true],
    ['https://host.example', [], false],
    ['https://host.example.evil', ['https://host.example'], false],
    ['http://host.example', ['https://host.example'], false],
    ['https://host.example:8443', ['https://host.example'], false],
    ['https://box.example', ['self'], true],
    ['https://other.example', ['self'], false],
    // A sandboxed frame, or a file.
    ['null', ['null', 'self'], false],
    ['self', ['self'], false],
  ])('%s with %j: %s', (origin, allowed, expected) => {
    expect(isAllowedOrigin(origin, allowed, own)).toBe(expected);
  });
});

describe('what a message hands over', () => {
  const token = 'e1627820-858a-41ba-9981-111a5042045e';
  it.each([
    undefined,
    null,
    'signalbox-token',
    {},
    { type: 'signalbox-token' },
    { type: 'signalbox-token', token: '' },
    { type: 'signalbox-token', token: 7 },
    { type: 'signalbox-token', token: 'a\r\nX-Other: b' },
    { type: 'signalbox-token', token: 'x'.repeat(4097) },
    { type: 'another', token },
    ['signalbox-token', token],
  ])('%j: nothing', (message) => {
    expect(handoverOf(message)).toBeUndefined();
  });

  it.each([
    [undefined, {}],
    ['red', {}],
    [
      { surface: '#102030', accent: '#FFcc00' },
      { surface: '#102030', accent: '#FFcc00' },
    ],
    [{ surface: 'red', text: '#12345', line: '#1234567', edge: '#12345g', accent: 'url(x)', raised: ' #102030' }, {}],
    [{ surface: ['#102030'], unknown: '#102030', '--surface': '#102030' }, {}],
    [JSON.parse('{"__proto__":{"surface":"#102030"},"text":"#ffffff"}'), { text: '#ffffff' }],
  ])('the colours of %j', (theme, expected) => {
    expect(handoverOf({ type: 'signalbox-token', token, theme })).toEqual({ token, theme: expected });
  });

  it.each([
    [{}, undefined],
    [{ surface: '#102030' }, true],
    [{ surface: '#ffffff' }, false],
    [{ surface: '#FFFF00' }, false],
  ])('%j is dark: %s', (theme, expected) => {
    expect(isDark(theme)).toBe(expected);
  });
});

it.each([
  [900_000, 840_000],
  [120_000, 60_000],
  [60_000, 30_000],
  [10_000, 5000],
  [1000, 1000],
  [0, 1000],
  [-5000, 1000],
])('with %d ms left the next token is asked for after %d ms', (left, expected) => {
  expect(renewalDelay(1_000_000 + left, 1_000_000)).toBe(expected);
});

import { expect, test } from 'vitest';
import { cleanTraceparent, parseTraceparent } from '../../src/metrics/traceparent.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('the parts of a traceparent', () => {
  expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, flags: 1 });
});

test.each([
  [`00-${traceId}-${spanId}-00`, `00-${traceId}-${spanId}-00`],
  // A later version, with more than is known: read as far as it is known.
  [`cc-${traceId}-${spanId}-01-what-comes-later`, `00-${traceId}-${spanId}-01`],
  // Flags that nobody knows are not handed on.
  [`00-${traceId}-${spanId}-fd`, `00-${traceId}-${spanId}-01`],
])('%s is handed on as %s', (text, printed) => {
  expect(cleanTraceparent(text)).toBe(printed);
});

test.each([
  '',
  'none',
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId}-${spanId}-01\r\nx-evil: 1`,
  `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
  `cc-${traceId}-${spanId}-01-${'x'.repeat(5000)}`,
])('%j is ignored', (text) => {
  expect(cleanTraceparent(text)).toBeUndefined();
});

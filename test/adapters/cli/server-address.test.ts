import { expect, test } from 'vitest';
import { isLoopback } from '../../../adapters/cli/addresses.js';

test.each(['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]'])('%s stays on this host', (host) => {
  expect(isLoopback(host)).toBe(true);
});

// A name could resolve to anything.
test.each(['127.example.org', '127.0.0.1.example.org', 'localhost.example.org', '10.0.0.1', '::', ''])(
  '%j may leave it',
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);

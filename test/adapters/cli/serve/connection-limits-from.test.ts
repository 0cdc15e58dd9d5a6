import { expect, it } from 'vitest';
import { connectionLimitsFrom } from '../../../../adapters/cli/serve/connection-limits-from.js';

const at = (
  host: string,
  maximumConnections: number | null = null,
  maximumConnectionsPerAddress: number | null = null,
) => ({
  host,
  maximumConnections,
  maximumConnectionsPerAddress,
});

it.each([
  ['half of the descriptors', at('0.0.0.0'), 1024, 512, 256],
  ['at most 10,000', at('0.0.0.0'), 1_000_000, 10_000, 5000],
  ['all of them for one address on loopback, where a proxy may be in front', at('127.0.0.1'), 1024, 512, 512],
  ['what is set', at('0.0.0.0', 700, 10), 1024, 700, 10],
  ['no more of one address than of all', at('0.0.0.0', 700, 900), 1024, 700, 700],
])('connections are limited to %s', (_what, options, descriptors, maximumConnections, maximumConnectionsPerAddress) => {
  expect(connectionLimitsFrom(options, descriptors)).toEqual({ maximumConnections, maximumConnectionsPerAddress });
});

it('a limit that leaves nothing for tasks and the store stops the start', () => {
  expect(() => connectionLimitsFrom(at('0.0.0.0', 769), 1024)).toThrow(/maximumConnections is 769, .* at most 768/);
});

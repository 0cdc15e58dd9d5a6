/** A unit as a fraction (numerator / denominator) of the base unit in which quantities are compared. */
export interface DeviceUnit {
  readonly base: 'byte' | 'byte per second' | 'hertz' | 'watt';
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const BINARY = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'].map((name, at) => [name, 1024n ** BigInt(at + 1)] as const);
const DECIMAL = ['kB', 'MB', 'GB', 'TB', 'PB', 'EB'].map((name, at) => [name, 1000n ** BigInt(at + 1)] as const);
const BYTES = [...BINARY, ...DECIMAL, ['KB', 1000n] as const];

/** All units of device attributes and constraints by name, case-sensitive. */
export const deviceUnits: ReadonlyMap<string, DeviceUnit> = new Map<string, DeviceUnit>([
  ...BYTES.map(([name, bytes]) => [name, multiple('byte', bytes)] as const),
  ...BYTES.map(([name, bytes]) => [`${name}/s`, multiple('byte per second', bytes)] as const),
  ['MHz', multiple('hertz', 1_000_000n)],
  ['GHz', multiple('hertz', 1_000_000_000n)],
  ['mW', { base: 'watt', numerator: 1n, denominator: 1000n }],
  ['W', multiple('watt', 1n)],
  ['kW', multiple('watt', 1_000n)],
  ['MW', multiple('watt', 1_000_000n)],
  ['GW', multiple('watt', 1_000_000_000n)],
]);

function multiple(base: DeviceUnit['base'], numerator: bigint): DeviceUnit {
  return { base, numerator, denominator: 1n };
}

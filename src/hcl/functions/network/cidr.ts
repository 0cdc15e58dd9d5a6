import { err, ok, type Result } from 'neverthrow';
import { toBigInt } from '../../values/number.js';
import { type HclValue, listValue, numberType, stringType, stringValue } from '../../values/value.js';
import { integerAt, numberAt, shortened, textAt } from '../arguments.js';
import {
  type CallResult,
  defineFunction,
  type EagerFunction,
  type FunctionError,
  fail,
  failArgument,
  parameter,
} from '../function.js';

const prefix = parameter('prefix', stringType);

/** Units of work for parsing one address and formatting another. */
const ADDRESS = 20;

export const cidrFunctions: readonly EagerFunction[] = [
  defineFunction('cidrhost', [prefix, parameter('hostnum', numberType)], host, { cost: ADDRESS }),
  defineFunction('cidrnetmask', [prefix], netmask, { cost: ADDRESS }),
  defineFunction('cidrsubnet', [prefix, parameter('newbits', numberType), parameter('netnum', numberType)], subnet, {
    cost: ADDRESS,
  }),
  defineFunction('cidrsubnets', [prefix], subnets, {
    variadic: parameter('newbits', numberType),
    cost: (args) => ADDRESS * args.length,
  }),
];

/** Largest prefix extension of one call, in bits. */
const MAX_NEW_BITS = 32;

/** A negative number counts from the end of the network, −1 being its last address. */
function host(args: readonly HclValue[]): CallResult {
  const network = networkAt(args);
  if (network.isErr()) return err(network.error);
  const { base, prefixLength, bits } = network.value;
  const number = toBigInt(numberAt(args, 1));
  if (number === undefined) return fail('the host number must be a whole number');
  const last = (1n << BigInt(bits - prefixLength)) - 1n;
  const host = number < 0n ? last + 1n + number : number;
  if (host < 0n || host > last) return fail(`the network has no room for host number ${shortened(String(number))}`);
  return ok(stringValue(addressText(base | host, bits)));
}

function netmask(args: readonly HclValue[]): CallResult {
  return networkAt(args).map(({ prefixLength, bits }) =>
    stringValue(addressText(networkMask(prefixLength, bits), bits)),
  );
}

function subnet(args: readonly HclValue[]): CallResult {
  const network = networkAt(args);
  if (network.isErr()) return err(network.error);
  const { base, prefixLength, bits } = network.value;
  const added = integerAt(args, 1, 'the number of new bits');
  if (added.isErr()) return err(added.error);
  const number = integerAt(args, 2, 'the network number');
  if (number.isErr()) return err(number.error);
  if (added.value < 0) return fail('the number of new bits must not be negative');
  if (added.value > MAX_NEW_BITS) return fail(`a prefix cannot be extended by more than ${MAX_NEW_BITS} bits at once`);
  const length = prefixLength + added.value;
  if (length > bits) return fail(`a prefix of ${length} bits is too long for an address of ${bits}`);
  if (number.value < 0 || number.value >= 2 ** added.value) {
    return fail(`a prefix extension of ${added.value} bits has no network number ${number.value}`);
  }
  return ok(stringValue(`${addressText(base | (BigInt(number.value) << BigInt(bits - length)), bits)}/${length}`));
}

/** Consecutive networks, each at the next multiple of its size. */
function subnets(args: readonly HclValue[]): CallResult {
  const network = networkAt(args, 0);
  if (network.isErr()) return err(network.error);
  const { base, prefixLength, bits } = network.value;
  const end = base + (1n << BigInt(bits - prefixLength));
  let free = base;
  const found: HclValue[] = [];
  for (let at = 1; at < args.length; at += 1) {
    const added = integerAt(args, at, 'the number of new bits', true);
    if (added.isErr()) return err(added.error);
    if (added.value < 1) return failArgument(at, 'a prefix must be extended by at least one bit');
    if (added.value > MAX_NEW_BITS) {
      return failArgument(at, `a prefix cannot be extended by more than ${MAX_NEW_BITS} bits at once`);
    }
    const length = prefixLength + added.value;
    if (length > bits) return failArgument(at, `a prefix of ${length} bits is too long for an address of ${bits}`);
    const size = 1n << BigInt(bits - length);
    const start = ((free + size - 1n) / size) * size;
    if (start >= end) return failArgument(at, `there is no room left for a network with a prefix of ${length} bits`);
    found.push(stringValue(`${addressText(start, bits)}/${length}`));
    free = start + size;
  }
  return ok(listValue(stringType, found));
}

function networkAt(args: readonly HclValue[], blame?: number): Result<Network, FunctionError> {
  const text = textAt(args, 0);
  const network = parseNetwork(text);
  if (network !== undefined) return ok(network);
  const message = `${JSON.stringify(shortened(text))} is not a network in CIDR notation like "10.0.0.0/8"`;
  return blame === undefined ? fail(message) : failArgument(blame, message);
}

/** An IPv4 (32 bits) or IPv6 (128 bits) network; the host part of `base` is zero. */
interface Network {
  readonly base: bigint;
  readonly prefixLength: number;
  readonly bits: 32 | 128;
}

/** Parses CIDR notation; undefined for anything else. Zones and leading zeros in IPv4 are rejected, host bits are cleared. */
function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf('/');
  if (slash === -1 || text.length > 64) return undefined;
  const address = text.slice(0, slash);
  const length = text.slice(slash + 1);
  const bits = address.includes(':') ? 128 : 32;
  const value = bits === 128 ? parseIpv6(address) : parseIpv4(address);
  if (value === undefined || !/^\d{1,3}$/.test(length) || Number(length) > bits) return undefined;
  const prefixLength = Number(length);
  return { base: value & networkMask(prefixLength, bits), prefixLength, bits };
}

function networkMask(prefixLength: number, bits: number): bigint {
  return ((1n << BigInt(prefixLength)) - 1n) << BigInt(bits - prefixLength);
}

/** Dotted decimals for IPv4, also when mapped into IPv6; otherwise groups with the longest run of zeros left out (RFC 5952). */
function addressText(address: bigint, bits: number): string {
  if (bits === 32 || address >> 32n === 0xffffn) {
    return [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 255n)).join('.');
  }
  const groups = Array.from({ length: 8 }, (_, at) => (address >> BigInt(112 - 16 * at)) & 0xffffn);
  let start = -1;
  let length = 1;
  for (let at = 0; at < 8; at += 1) {
    let end = at;
    while (groups[end] === 0n) end += 1;
    if (end - at > length) [start, length] = [at, end - at];
  }
  const shown = groups.map((group) => group.toString(16));
  if (start === -1) return shown.join(':');
  return `${shown.slice(0, start).join(':')}::${shown.slice(start + length).join(':')}`;
}

function parseIpv4(text: string): bigint | undefined {
  const octets = text.split('.');
  if (octets.length !== 4) return undefined;
  let value = 0n;
  for (const octet of octets) {
    if (!/^(?:0|[1-9]\d{0,2})$/.test(octet) || Number(octet) > 255) return undefined;
    value = (value << 8n) | BigInt(octet);
  }
  return value;
}

function parseIpv6(text: string): bigint | undefined {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (tail !== null) {
    const low = parseIpv4(tail[2] ?? '');
    if (low === undefined) return undefined;
    return parseIpv6(`${tail[1]}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`);
  }
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head = [], rest = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - head.length - rest.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<string>(Math.max(0, missing)).fill('0'), ...rest];
  let value = 0n;
  for (const group of groups) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    value = (value << 16n) | BigInt(`0x${group}`);
  }
  return value;
}

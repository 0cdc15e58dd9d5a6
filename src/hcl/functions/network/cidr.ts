import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import { toBigInt } from '../../values/number.js';
import type { HclValue } from '../../values/value.js';
import { listValue, numberType, stringType, stringValue } from '../../values/value.js';
import { integerAt, numberAt, shortened, textAt } from '../arguments.js';
import type { CallResult, EagerFunction, FunctionError } from '../function.js';
import { defineFunction, fail, failArgument, parameter } from '../function.js';
import type { Network } from './network-address.js';
import { addressText, networkMask, parseNetwork } from './network-address.js';

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

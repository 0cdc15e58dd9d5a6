import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The reason why an address is not public, as part of a message; null when it is public. */
type AddressVerdict = string | null;

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = readonly [Address, number];

/** IPv4 ranges that are not in `ipaddr.js`, or have a more specific reason here. */
const furtherV4: readonly (readonly [string, string])[] = [
  // A public address range by its number, but at one large provider it returns credentials to every virtual machine.
  ['168.63.129.16/32', 'a cloud metadata address'],
  ['192.31.196.0/24', 'a reserved address'],
  ['192.52.193.0/24', 'a reserved address'],
  ['192.88.99.0/24', 'a tunnel address'],
  ['192.175.48.0/24', 'a reserved address'],
];

/** All public IPv6 addresses are in this range, so unknown special ranges are refused. */
const globalV6 = range('2000::/3');

/** Ranges within it that are not public. */
const furtherV6: readonly (readonly [string, string])[] = [
  // Protocol assignments: Teredo, benchmarking, ORCHID and others.
  ['2001::/23', 'a reserved address'],
  ['2001:db8::/32', 'a documentation address'],
  ['2002::/16', 'a tunnel address'],
  ['2620:4f:8000::/48', 'a reserved address'],
  ['3ffe::/16', 'a reserved address'],
  ['3fff::/20', 'a documentation address'],
];

const deniedV4 = furtherV4.map(([text, reason]) => ({ range: range(text), reason }));
const deniedV6 = furtherV6.map(([text, reason]) => ({ range: range(text), reason }));

/** 64:ff9b::/96: the address of an IPv4 host as an IPv6-only network sees it (RFC 6052). */
const translated = range('64:ff9b::/96');

/**
 * The address in its own family: an IPv4-mapped IPv6 address reaches the IPv4 host, so it is checked as an IPv4 address. Null
 * for an invalid address, which callers treat as forbidden.
 */
export function addressFromText(text: string): Address | null {
  // No rule uses the zone of a link-local address.
  const bare = text.replace(/%.*$/, '');
  if (isIP(bare) === 0) return null;
  const address = ipaddr.parse(bare);
  return isV6(address) && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** A range in CIDR notation, in its own family like `addressFromText`; null if invalid. */
export function rangeFromText(text: string): AddressRange | null {
  if (!ipaddr.isValidCIDR(text)) return null;
  const [base, bits] = ipaddr.parseCIDR(text);
  if (isV6(base) && bits >= 96 && base.isIPv4MappedAddress()) return [base.toIPv4Address(), bits - 96];
  return [base, bits];
}

/** Whether the address lies in the range; never across families. */
export function isInRange(address: Address, [base, bits]: AddressRange): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}

/** The IPv4 host behind a translated address (NAT64), else the address itself. */
export function reachedAddress(address: Address): Address {
  if (!isV6(address) || !isInRange(address, translated)) return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(12));
}

/**
 * Whether the address is one of the public internet. Everything else is refused: private, shared, loopback, link-local,
 * multicast, documentation, benchmarking, tunnel, reserved and unassigned ranges of the IANA special-purpose registries.
 * An address that embeds an IPv4 address is checked as the IPv4 address (mapped, NAT64) or refused (6to4, Teredo).
 */
export function nonPublicReason(given: Address): AddressVerdict {
  const address = reachedAddress(given);
  if (!isV6(address)) {
    return deniedV4.find((each) => isInRange(address, each.range))?.reason ?? reasonOf(address.range());
  }
  const reason = reasonOf(address.range());
  if (reason !== null) return deniedV6.find((each) => isInRange(address, each.range))?.reason ?? reason;
  if (!isInRange(address, globalV6)) return 'a reserved address';
  return deniedV6.find((each) => isInRange(address, each.range))?.reason ?? null;
}

function isV6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6';
}

function range(text: string): AddressRange {
  const [base, bits] = ipaddr.parseCIDR(text);
  return [base, bits];
}

/** The description of a range. Every range other than unicast is refused, with or without a specific description. */
function reasonOf(name: string): AddressVerdict {
  if (name === 'unicast') return null;
  return words[name] ?? 'a reserved address';
}

const words: Readonly<Record<string, string>> = {
  unspecified: 'an unspecified address',
  broadcast: 'a broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'a link-local address',
  loopback: 'a loopback address',
  carrierGradeNat: 'a private address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  deprecatedSiteLocal: 'a private address',
  '6to4': 'a tunnel address',
  teredo: 'a tunnel address',
};

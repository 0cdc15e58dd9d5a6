import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { remembered } from '../../src/shared/remembered.js';
import { percentDecoded } from '../../src/shared/values.js';
import type { Fault } from './delivery-fault.js';

/** Allowed non-public destinations. */
export interface AllowedDestinations {
  /** Ranges in CIDR notation, for example `10.20.0.0/16` or `fd00:20::/32`. */
  readonly cidrs?: readonly string[];
  /** Host names (or address literals) that may resolve to any address; `*.corp.example` stands for all names below. */
  readonly hosts?: readonly string[];
}

/** Decides which hosts and addresses may be connected to (docs/guides/outbound-security.md). */
export interface OutboundGuard {
  /** Null if connections to the address are allowed for this host, otherwise the reason. */
  judge(host: string, address: string): string | null;
  /** Null if the host of a URL is a name (checked when it is resolved) or an allowed literal, otherwise the reason. */
  judgeHost(host: string): string | null;
  /** Whether the host application has listed a range that contains the address. */
  isListed(address: string): boolean;
}

const defaultHint =
  'list the network under allow.cidrs or the host under allow.hosts of the delivery adapter to allow it';

/**
 * The rule for outbound connections: only public addresses, and those that the host application lists. Throws at start for an
 * allow list that cannot be parsed. `hint` ends every refusal: what the operator must change to allow the address.
 */
export function outboundGuard(allow: AllowedDestinations = {}, hint: string = defaultHint): OutboundGuard {
  const ranges: AddressRange[] = (allow.cidrs ?? []).map((text) => {
    const range = rangeFromText(text);
    if (range === null) throw new TypeError(`allow.cidrs: "${text}" is not a range such as 10.0.0.0/8 or fd00::/8`);
    return range;
  });
  const hosts = new Set<string>();
  const suffixes: string[] = [];
  for (const text of allow.hosts ?? []) {
    const wildcard = text.startsWith('*.');
    const host = hostFromText(wildcard ? text.slice(2) : text);
    if (host === null) throw new TypeError(`allow.hosts: "${text}" is not a host name such as hooks.corp.example`);
    if (wildcard) suffixes.push(`.${host}`);
    else hosts.add(host);
  }

  const isAllowedHost = (host: string): boolean =>
    hosts.has(host) || suffixes.some((suffix) => host.endsWith(suffix) && host.length > suffix.length);
  const isAllowedAddress = (address: Address): boolean =>
    ranges.some((range) => isInRange(address, range) || isInRange(reachedAddress(address), range));

  // The rules never change, and the same few addresses are used repeatedly.
  const verdictOf = remembered((text): string | null => {
    const address = addressFromText(text);
    if (address === null) return 'an invalid address';
    return isAllowedAddress(address) ? null : nonPublicReason(address);
  }, 1000);

  const judge = (host: string, text: string): string | null => {
    const verdict = verdictOf(text);
    if (verdict === null || isAllowedHost(bareHost(host))) return null;
    return `this host is at ${verdict}, but requests are sent only to public addresses; ${hint}`;
  };
  return {
    judge,
    judgeHost: (host) => {
      const bare = bareHost(host);
      return isIP(bare) === 0 ? null : judge(bare, bare);
    },
    isListed: (text) => {
      const address = addressFromText(text);
      return address !== null && isAllowedAddress(address);
    },
  };
}

/** A host as in a URL, without the brackets of IPv6 and the final dot of an absolute name. */
export function bareHost(host: string): string {
  if (host.startsWith('[')) return host.slice(1, -1);
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

/** The host in the form of a parsed URL, so that both sides of a comparison are normalized alike. */
function hostFromText(text: string): string | null {
  const bracketed = isIP(text) === 6 ? `[${text}]` : text;
  if (isIP(text) !== 6 && /[:/?#@\\]/.test(text)) return null;
  if (!URL.canParse(`http://${bracketed}/`)) return null;
  return bareHost(new URL(`http://${bracketed}/`).hostname);
}

/** The reason why an address is not public, as part of a message; null when it is public. */
type AddressVerdict = string | null;

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type AddressRange = readonly [Address, number];

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
function rangeFromText(text: string): AddressRange | null {
  if (!ipaddr.isValidCIDR(text)) return null;
  const [base, bits] = ipaddr.parseCIDR(text);
  if (isV6(base) && bits >= 96 && base.isIPv4MappedAddress()) return [base.toIPv4Address(), bits - 96];
  return [base, bits];
}

/** Whether the address lies in the range; never across families. */
function isInRange(address: Address, [base, bits]: AddressRange): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}

/** The IPv4 host behind a translated address (NAT64), else the address itself. */
function reachedAddress(address: Address): Address {
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

/** The parts of a URL that sending needs. */
export interface DeliveryUrl {
  readonly url: URL;
  readonly origin: string;
  /** Path with query. */
  readonly path: string;
  /** The value of an authorization header made from the URL's credentials; null without them. */
  readonly authorization: string | null;
  /** Scheme and host: the only parts that messages may contain. */
  readonly label: string;
}

interface DestinationRules {
  readonly guard: OutboundGuard;
  readonly httpsOnly?: boolean | undefined;
  readonly forbiddenPorts?: readonly number[] | undefined;
}

export const longestUrl = 8192;

/** The parts of a URL that may be requested, or why it may not, as far as this is known without resolving its name. */
export function destinationFrom(text: string, rules: DestinationRules): DeliveryUrl | Fault {
  const target = deliveryUrlFromText(text);
  if (typeof target === 'string') return { type: 'invalid_url', message: target };
  const { url, label } = target;
  if (rules.httpsOnly === true && url.protocol !== 'https:') {
    return { type: 'invalid_url', message: `${label}: the URL must begin with https://` };
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const refusal =
    rules.forbiddenPorts?.includes(port) === true
      ? `port ${port} is forbidden (forbiddenPorts)`
      : rules.guard.judgeHost(url.hostname);
  return refusal === null ? target : { type: 'address_forbidden', message: `${label}: ${refusal}` };
}

/** The parts of an absolute http: or https: URL, or the reason why it is invalid, without any part of the URL. */
function deliveryUrlFromText(text: string): DeliveryUrl | string {
  if (text.length > longestUrl) return `the URL is longer than ${longestUrl} characters`;
  if (!URL.canParse(text)) return 'the URL is not an absolute URL such as https://hooks.example.net/path';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'the URL must begin with http:// or https://';
  return {
    url,
    origin: url.origin,
    path: url.pathname + url.search,
    authorization: url.username === '' && url.password === '' ? null : basicAuthorization(url),
    label: `${url.protocol}//${url.host}`,
  };
}

function basicAuthorization(url: URL): string {
  const credentials = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
  return `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`;
}

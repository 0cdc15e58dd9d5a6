import { isIP } from 'node:net';
import { remembered } from '../../src/shared/remembered.js';
import {
  type Address,
  type AddressRange,
  addressFromText,
  isInRange,
  nonPublicReason,
  rangeFromText,
  reachedAddress,
} from './address-rules.js';

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

/** An IPv4 (32 bits) or IPv6 (128 bits) network; the host part of `base` is zero. */
export interface Network {
  readonly base: bigint;
  readonly prefixLength: number;
  readonly bits: 32 | 128;
}

/** Parses CIDR notation; undefined for anything else. Zones and leading zeros in IPv4 are rejected, host bits are cleared. */
export function parseNetwork(text: string): Network | undefined {
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

export function networkMask(prefixLength: number, bits: number): bigint {
  return ((1n << BigInt(prefixLength)) - 1n) << BigInt(bits - prefixLength);
}

/** Dotted decimals for IPv4, also when mapped into IPv6; otherwise groups with the longest run of zeros left out (RFC 5952). */
export function addressText(address: bigint, bits: number): string {
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

/*
 * Formats of strings. Each expression matches in one pass from the beginning: no part can be repeated in two ways.
 */

const days = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (found === null) return false;
  const [year, month, day] = found.slice(1).map(Number) as [number, number, number];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = month === 2 && !isLeap ? 28 : (days[month - 1] ?? 0);
  return day >= 1 && day <= last;
}

const fullTime = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[zZ]|([+-])(\d{2}):(\d{2}))$/;

/** A time of day with its offset. Second 60 is allowed only before midnight in UTC. */
function isTime(text: string): boolean {
  const found = fullTime.exec(text);
  if (found === null) return false;
  const [hour, minute, second] = found.slice(1, 4).map(Number) as [number, number, number];
  const offsetHour = Number(found[5] ?? 0);
  const offsetMinute = Number(found[6] ?? 0);
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (found[4] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  return (hour * 60 + minute - offset + 2880) % 1440 === 1439;
}

function isDateTime(text: string): boolean {
  return /^.{10}[tT]/.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

const duration =
  /^P(?:\d+W|(?=[\dT])(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?=\d)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)?)?)$/;

/** Labels of letters, digits and hyphens, at most 63 characters each and 253 together. */
function isHostname(text: string): boolean {
  return (
    text.length <= 253 &&
    text.split('.').every((label) => /^(?!-)[A-Za-z0-9-]{1,63}$/.test(label) && !label.endsWith('-'))
  );
}

function isIpv4(text: string): boolean {
  const parts = text.split('.', 5);
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const endsWithIpv4 = last.includes('.');
  if (endsWithIpv4 && (!isIpv4(last) || text.endsWith('::'))) return false;
  const plain = endsWithIpv4 ? groups.slice(0, -1) : groups;
  const count = plain.length + (endsWithIpv4 ? 2 : 0);
  return plain.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group)) && (halves.length === 2 ? count <= 7 : count === 8);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || at > 64 || text.length > 320) return false;
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  const isLocal =
    /^"(?:[ !#-[\]-~]|\\[ -~])*"$/.test(local) ||
    local.split('.').every((atom) => /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+$/.test(atom));
  return isLocal && (isHostname(domain) || isAddressLiteral(domain));
}

function isAddressLiteral(domain: string): boolean {
  if (!domain.startsWith('[') || !domain.endsWith(']')) return false;
  const address = domain.slice(1, -1);
  return address.startsWith('IPv6:') ? isIpv6(address.slice(5)) : isIpv4(address);
}

const plainUriCharacters = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$/;
const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;

/** A reference of RFC 3986: only its authority may have brackets, around an address. */
function isUriReference(text: string): boolean {
  const hash = text.indexOf('#');
  const [main, fragment] = hash < 0 ? [text, ''] : [text.slice(0, hash), text.slice(hash + 1)];
  const rest = main.replace(scheme, '');
  if (!plainUriCharacters.test(fragment)) return false;
  // Without a scheme the first segment of a path has no colon.
  if (rest.length === main.length && /^[^/?]*:/.test(rest)) return false;
  if (!rest.startsWith('//')) return plainUriCharacters.test(rest);
  const end = rest.slice(2).search(/[/?]/);
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end + 2);
  return isAuthority(authority) && plainUriCharacters.test(end < 0 ? '' : rest.slice(end + 2));
}

function isAuthority(text: string): boolean {
  const at = text.indexOf('@');
  if (!plainUriCharacters.test(text.slice(0, Math.max(at, 0)))) return false;
  const place = text.slice(at + 1);
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(place);
  if (bracketed !== null)
    return isIpv6(bracketed[1] ?? '') || /^v[0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+$/.test(bracketed[1] ?? '');
  return /^[^:@]*(?::\d*)?$/.test(place) && plainUriCharacters.test(place);
}

function isUri(text: string): boolean {
  return scheme.test(text) && isUriReference(text);
}

function isRegex(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

function isCidr(text: string, isAddress: (address: string) => boolean, bits: number): boolean {
  const slash = text.lastIndexOf('/');
  const prefix = text.slice(slash + 1);
  return slash > 0 && isAddress(text.slice(0, slash)) && /^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits;
}

const by =
  (expression: RegExp) =>
  (text: string): boolean =>
    expression.test(text);
const base64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
const uuid = by(/^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$/);
const isAnything = (): boolean => true;

/** Formats of strings, by name. */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date-time', isDateTime],
  ['date', isDate],
  ['time', isTime],
  ['duration', by(duration)],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['uri', isUri],
  ['uri-reference', isUriReference],
  ['uuid', uuid],
  ['json-pointer', by(/^(?:\/(?:[^~]|~[01])*)?$/s)],
  ['relative-json-pointer', by(/^(?:0|[1-9]\d*)(?:#|\/(?:[^~]|~[01])*)?$/s)],
  ['regex', isRegex],
  ['guid', uuid],
  ['mac', by(/^[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})$/)],
  ['cidr', (text: string) => isCidr(text, isIpv4, 32)],
  ['cidr-v6', (text: string) => isCidr(text, isIpv6, 128)],
  ['base64', base64],
  ['byte', base64],
  ['base64url', by(/^[A-Za-z0-9_-]*$/)],
  ['e164', by(/^\+[1-9]\d{6,14}$/)],
  ['ulid', by(/^[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}$/)],
  ['password', isAnything],
  ['binary', isAnything],
]);

/** Formats of numbers, by name. */
export const numberFormats: ReadonlyMap<string, (value: number) => boolean> = new Map([
  ['int32', (value: number) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31],
  ['int64', (value: number) => Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63],
  ['float', isAnything],
  ['double', isAnything],
]);

export const formatNames: readonly string[] = [...formats.keys(), ...numberFormats.keys()];

import { remembered } from '../../shared/remembered.js';

/** Replaces credentials sent by a destination. */
const redacted = '[redacted]';

/** Response headers that hold credentials; the default of the setting. */
export const credentialHeaders: readonly string[] = [
  'set-cookie',
  'set-cookie2',
  'cookie',
  'authorization',
  'proxy-authorization',
  'www-authenticate',
  'proxy-authenticate',
  'authentication-info',
];

/** Headers for storage: the values of the given names (lower case) are replaced. */
export function redactHeaders(
  headers: Readonly<Record<string, readonly string[]>>,
  secret: readonly string[] = credentialHeaders,
  /** Secrets to replace in all other values. */
  sent: Secrets = { plain: [], encoded: [] },
): Readonly<Record<string, readonly string[]>> {
  let kept: Record<string, readonly string[]> | undefined;
  for (const [name, values] of Object.entries(headers)) {
    const isSecret = secret.includes(name);
    const next = values.map((value) => (isSecret ? redacted : withoutSecrets(value, sent)));
    if (next.every((value, index) => value === values[index])) continue;
    kept ??= { ...headers };
    kept[name] = next;
  }
  return kept ?? headers;
}

/** The longest kept value of a header of a request. */
const longestSent = 1024;

/** Headers of a request for storage: the values of the given names are replaced, others are cut. */
export function redactSentHeaders(
  headers: Readonly<Record<string, string>>,
  secret: readonly string[],
): Readonly<Record<string, string>> {
  const kept = Object.entries(headers).map(([name, value]) => [
    name,
    secret.includes(name) || credentialHeaders.includes(name) ? redacted : value.slice(0, longestSent),
  ]);
  return Object.fromEntries(kept);
}

/** Shorter strings occur in responses by chance. */
const shortestSecret = 8;
/** Shorter paths and path segments, such as `/notifications`, are not secret. */
const shortestSecretPath = 16;

/** The secrets in a request to a destination: they must not be stored when its response repeats them. */
interface SentSecrets {
  readonly url: string;
  readonly tokens: readonly (string | null)[];
  /** The headers added by the configuration. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The strings to search for in responses. */
export interface Secrets {
  readonly plain: readonly string[];
  /** Digits of secrets in base64 and hexadecimal, which can occur inside longer digits. */
  readonly encoded: readonly string[];
}

/**
 * The strings to search for in a response: tokens and header values, also without their scheme; path, query, each query value and userinfo
 * of the URL; and all of these in base64 and in hexadecimal. Other encodings are decoded by `withoutSecrets`.
 */
export function secretsSentTo({ url, tokens, headers }: SentSecrets): Secrets {
  return secretsIn(JSON.stringify([url, tokens.filter((token) => token !== null), Object.values(headers)]));
}

/** Cached, because it is the same for every attempt of a configuration. */
const secretsIn = remembered(
  (sent): Secrets => {
    const [url, tokens, values] = JSON.parse(sent) as [string, readonly string[], readonly string[]];
    const secrets = [...tokens.flatMap(partsOfToken), ...values.flatMap(partsOfHeader), ...partsOfUrl(url)];
    const spelled = secrets.flatMap((secret) => [secret, percentDecoded(secret), secret.replaceAll(' ', '+')]);
    const plain = [...new Set(spelled)].filter(({ length }) => length >= shortestSecret);
    return { plain, encoded: [...new Set(plain.flatMap(encodingsOf))] };
  },
  256,
  4_000,
);

function partsOfToken(token: string): readonly string[] {
  return [token, token.replace(/^wh(?:sec|sk)_/, '')];
}

/** The value, the part after its scheme, its `name=value` pairs, and user name and password of `Basic`. */
function partsOfHeader(value: string): readonly string[] {
  const credentials = value.replace(/^[\w-]+\s+/, '');
  const pieces = value.split(/[\s,;]+/).map((piece) => piece.replace(/^[\w-]+="?|"$/g, ''));
  const basic = /^basic\s/i.test(value) ? Buffer.from(credentials, 'base64').toString() : '';
  return [value, credentials, ...pieces, basic, basic.slice(basic.indexOf(':') + 1)];
}

function partsOfUrl(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { pathname, search, searchParams, username, password } = new URL(url);
  const paths = [pathname + search, pathname, pathname.slice(1), ...pathname.split('/')];
  const values = search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1));
  const query = [search.slice(1), ...values, ...searchParams.values()];
  const user = username === '' && password === '' ? [] : [`${username}:${password}`, username, password];
  return [...paths.filter(({ length }) => length >= shortestSecretPath), ...query, ...user];
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Base64, at each of the three offsets at which it can begin within a longer string, and hexadecimal. */
function encodingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 2, 3].map((start, before) => {
    const digits = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return digits.slice(start, Math.floor(((before + bytes.length) * 8) / 6));
  });
  const hex = bytes.toString('hex');
  return [
    ...base64,
    ...base64.map((digits) => digits.replaceAll('+', '-').replaceAll('/', '_')),
    hex,
    hex.toUpperCase(),
  ];
}

/** A decoded string, with the offset of each of its characters in the original. */
interface View {
  readonly text: string;
  /** One more than characters: the last is the end. Undefined for the original string. */
  readonly starts?: readonly number[];
}

interface Escapes {
  /** The first character of each. */
  readonly mark: string;
  /** One escaped character. */
  readonly pattern: RegExp;
  readonly decode: (escaped: string) => string;
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const controls: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

const escapes: readonly Escapes[] = [
  {
    mark: '%',
    pattern: /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}/gi,
    decode: percentDecoded,
  },
  {
    mark: '\\',
    pattern: /\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|["'\\/bfnrt])/g,
    decode: (escaped) =>
      escaped.length > 2
        ? String.fromCharCode(Number.parseInt(escaped.slice(2), 16))
        : (controls[escaped.slice(1)] ?? escaped.slice(1)),
  },
  {
    mark: '&',
    pattern: /&(?:amp|lt|gt|quot|apos|#\d{1,5}|#x[\da-f]{1,4});/gi,
    decode: (escaped) => {
      const name = escaped.slice(1, -1).toLowerCase();
      if (!name.startsWith('#')) return named[name] ?? escaped;
      return String.fromCharCode(name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1)));
    },
  },
];

function decoded({ text, starts }: View, { mark, pattern, decode }: Escapes): View | undefined {
  if (!text.includes(mark)) return undefined;
  const original = (index: number): number => starts?.[index] ?? index;
  const places: number[] = [];
  let plain = '';
  let done = 0;
  const keep = (piece: string, placeOf: (offset: number) => number): void => {
    for (let offset = 0; offset < piece.length; offset += 1) places.push(placeOf(offset));
    plain += piece;
  };
  for (const { 0: escaped, index } of text.matchAll(pattern)) {
    const from = done;
    keep(text.slice(from, index), (offset) => original(from + offset));
    keep(decode(escaped), () => original(index));
    done = index + escaped.length;
  }
  if (done === 0) return undefined;
  const from = done;
  keep(text.slice(from), (offset) => original(from + offset));
  return { text: plain, starts: [...places, original(text.length)] };
}

/** The string, and its decodings as percent-encoding, JSON or HTML, once and twice. */
function viewsOf(text: string): readonly View[] {
  const once = escapes.flatMap((each) => decoded({ text }, each) ?? []);
  return [{ text }, ...once, ...once.flatMap((view) => escapes.flatMap((each) => decoded(view, each) ?? []))];
}

/**
 * The string with each of the secrets (`secretsSentTo`) replaced, in every encoding. `truncated`: the string was cut, and may end in the
 * middle of one.
 */
export function withoutSecrets(text: string, secrets: Secrets, truncated = false): string {
  if (text.length < shortestSecret) return text;
  const found = viewsOf(text).flatMap((view) => {
    const plain = foundIn(view.text, secrets.plain, truncated);
    const encoded = foundIn(view.text, secrets.encoded, truncated).map((part) => withDigitsAround(view.text, part));
    const { starts } = view;
    if (starts === undefined) return [...plain, ...encoded];
    return [...plain, ...encoded].map(({ start, end }) => ({
      start: starts[start] ?? 0,
      end: starts[end] ?? text.length,
    }));
  });
  return found.length === 0 ? text : replaced(text, found);
}

/** A part of a string. */
interface Part {
  readonly start: number;
  /** Excluded. */
  readonly end: number;
}

function foundIn(text: string, secrets: readonly string[], truncated: boolean): readonly Part[] {
  const found: Part[] = [];
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
      found.push({ start: at, end: at + secret.length });
    }
    const last = truncated ? text.lastIndexOf(secret.slice(0, shortestSecret)) : -1;
    if (last >= 0 && secret.startsWith(text.slice(last))) found.push({ start: last, end: text.length });
  }
  return found;
}

/** The first and last base64 digit can hold bits of a secret and of its neighbours. */
function withDigitsAround(text: string, { start, end }: Part): Part {
  const before = /[\w+/-]{0,2}$/.exec(text.slice(Math.max(0, start - 2), start))?.[0] ?? '';
  const after = /^[\w+/-]{0,2}={0,2}/.exec(text.slice(end, end + 4))?.[0] ?? '';
  return { start: start - before.length, end: end + after.length };
}

function replaced(text: string, found: readonly Part[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { start, end } of found.toSorted((left, right) => left.start - right.start)) {
    if (end <= done) continue;
    if (start > done || done === 0) pieces.push(text.slice(done, start), redacted);
    done = end;
  }
  return pieces.join('') + text.slice(done);
}

/** Scheme, host and port of a URL, the parts that may be logged. Empty for an invalid URL. */
export function originOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed === undefined ? '' : `${parsed.protocol}//${parsed.host}`;
}

/** The URL without userinfo, as shown with a response. */
export function withoutUserinfo(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.username === '' && parsed.password === '') return url;
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

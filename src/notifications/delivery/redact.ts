/** The replacement of a credential that a destination sent. */
const redacted = '[redacted]';

/** Headers of answers whose values are credentials, unless the settings say otherwise. */
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

/** Headers fit for storing: names stay, values of the given names (lower case) do not. */
export function redactHeaders(
  headers: Readonly<Record<string, readonly string[]>>,
  secret: readonly string[] = credentialHeaders,
  /** Texts that are replaced in all other values. */
  sent: readonly string[] = [],
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

/** Shorter texts stand in answers by chance. */
const shortestSecret = 8;
/** Shorter paths, such as `/notifications`, are no secrets. */
const shortestSecretPath = 16;

/** What a destination may send back of what it was sent, and must not be stored, also as part of JSON; the longest first. */
export function secretsSentTo({
  url,
  tokens,
  headers,
}: {
  readonly url: string;
  readonly tokens: readonly (string | null)[];
  /** Those that the configuration adds. */
  readonly headers: Readonly<Record<string, string>>;
}): readonly string[] {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const path = parsed === undefined ? '' : `${parsed.pathname}${parsed.search}`;
  const texts = [...tokens, ...Object.values(headers), parsed?.password].filter((text) => typeof text === 'string');
  const long = texts.filter(({ length }) => length >= shortestSecret);
  const secrets = [...long, ...(path.length >= shortestSecretPath ? [path] : [])];
  const quoted = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  return [...new Set([...secrets, ...quoted])].toSorted((a, b) => b.length - a.length);
}

/** The text with each of the secrets replaced. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((kept, secret) => kept.replaceAll(secret, redacted), text);
}

/** Scheme, host and port of a URL: all that may be logged of it. Empty when it is no URL. */
export function originOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed === undefined ? '' : `${parsed.protocol}//${parsed.host}`;
}

/** The URL without userinfo, as it is shown beside a response. */
export function withoutUserinfo(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.username === '' && parsed.password === '') return url;
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

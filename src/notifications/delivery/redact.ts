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
): Readonly<Record<string, readonly string[]>> {
  let kept: Record<string, readonly string[]> | undefined;
  for (const [name, values] of Object.entries(headers)) {
    if (!secret.includes(name)) continue;
    kept ??= { ...headers };
    kept[name] = values.map(() => redacted);
  }
  return kept ?? headers;
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

/** What sending needs of a URL. */
export interface DeliveryUrl {
  readonly url: URL;
  readonly origin: string;
  /** Path with query. */
  readonly path: string;
  /** The value of an authorization header made from the userinfo; null without one. */
  readonly authorization: string | null;
  /** Scheme and host: all that messages may name. */
  readonly label: string;
}

const longestUrl = 8192;

/** The parts of an absolute http: or https: URL, else why it is none, in words that repeat nothing of it. */
export function deliveryUrlFromText(text: string): DeliveryUrl | string {
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
  const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
  return `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`;
}

/** A stray percent sign is taken as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

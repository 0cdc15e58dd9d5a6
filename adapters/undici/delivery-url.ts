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

const longestUrl = 8192;

/** The parts of an absolute http: or https: URL, or the reason why it is invalid, without any part of the URL. */
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

/** An invalid percent-escape is taken literally. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

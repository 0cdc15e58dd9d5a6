import type { Fault } from './delivery-fault.js';
import type { OutboundGuard } from './outbound-guard.js';

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

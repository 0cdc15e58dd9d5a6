import { err, ok, type Result } from 'neverthrow';
import { type BadInput, badInput } from '../errors/interface-errors.js';
import type { HttpRequest, HttpResponse } from '../http-message.js';

/** Path prefixes that are redirected to the same path with a slash. */
const roots: ReadonlySet<string> = new Set([
  '/v1/job',
  '/v1/allocation',
  '/v1/evaluation',
  '/v1/deployment',
  '/v1/node',
  '/v1/node/pool',
  '/v1/service',
  '/v1/scaling/policy',
  '/v1/var',
  '/v1/acl/policy',
  '/v1/client/allocation',
  '/v1/client/fs',
]);

/**
 * Where existing clients of Nomad expect to be redirected from a path: to the path without empty, `.` and `..` segments, from the
 * root of a resource to the same with a slash, and from `/` to the web interface. Undefined for a path without a redirect.
 */
export function redirected(method: string, path: string, query: string): HttpResponse | undefined {
  const target = placeOfPath(path);
  return target === path ? undefined : redirect(method, query === '' ? target : `${target}?${query}`);
}

function placeOfPath(path: string): string {
  if (path === '/') return '/ui/';
  return roots.has(path) ? `${path}/` : cleaned(path);
}

/** Only a path with such segments is split. */
function cleaned(path: string): string {
  if (!path.includes('//') && !path.includes('/.')) return path;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const end = path.endsWith('/') && segments.length > 0 ? '/' : '';
  return `/${segments.join('/')}${end}`;
}

/** 307 keeps method and body. For GET, the answer also contains a page with a link. */
function redirect(method: string, location: string): HttpResponse {
  const headers = ['Location', location];
  if (method !== 'GET' && method !== 'HEAD') return { status: 307, headers, body: '' };
  const href = location
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&#34;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
  headers.push('Content-Type', 'text/html; charset=utf-8');
  return { status: 307, headers, body: `<a href="${href}">Temporary Redirect</a>.\n\n` };
}

/** The longest request target accepted: clients are known to send more than 3 KB of query, servers allow 16 KB of head. */
export const maximumTargetLength = 16_384;

/** A request target, split in two; both parts are raw. */
interface Target {
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
}

/** Splits the target into path and query; drops scheme and host of the absolute form (`GET http://host/path`). */
export function splitTarget(target: string): Target {
  let from = 0;
  if (target.charCodeAt(0) !== slash) {
    const authority = target.indexOf('://');
    if (authority > 0) {
      const path = target.indexOf('/', authority + 3);
      from = path < 0 ? target.length : path;
    }
  }
  const mark = target.indexOf('?', from);
  if (mark < 0) return { path: from === 0 ? target : target.slice(from), query: '' };
  return { path: target.slice(from, mark), query: target.slice(mark + 1) };
}

/** Method and path of a request, for messages. */
export function placeOf({ method, target }: Pick<HttpRequest, 'method' | 'target'>): string {
  return `${method.slice(0, 20)} ${splitTarget(target).path.slice(0, 256)}`;
}

/** Host and port of a target in the form `http://host:port/path`; undefined for the usual form, which begins with the path. */
export function authorityOf(target: string): string | undefined {
  if (target.charCodeAt(0) === slash) return undefined;
  const scheme = target.indexOf('://');
  if (scheme <= 0) return undefined;
  return /^[^/?#]*/.exec(target.slice(scheme + 3))?.[0];
}

/** Decodes percent-encoding; most strings have none and are returned unchanged. */
export function decodePathText(text: string): Result<string, BadInput> {
  if (!text.includes('%')) return ok(text);
  try {
    return ok(decodeURIComponent(text));
  } catch {
    return err(badInput('malformed', 'the path contains an invalid percent-encoding; write % as %25'));
  }
}

const slash = 0x2f;

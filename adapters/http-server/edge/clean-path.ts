import type { HttpResponse } from '../http-message.js';

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
  const target = placeOf(path);
  return target === path ? undefined : redirect(method, query === '' ? target : `${target}?${query}`);
}

function placeOf(path: string): string {
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

import type { Route } from '../calls/route.js';
import type { HttpResponse } from '../http-message.js';

/**
 * Where existing clients of the upstream expect to be sent from a path: without empty, `.` and `..` segments, and from the root of a
 * resource to the same with a slash. Gives the redirect, or undefined for a path that stays as it is.
 */
export function redirector(
  routes: readonly Route[],
): (method: string, path: string, query: string) => HttpResponse | undefined {
  const roots = new Set<string>();
  const whole = new Set(routes.map(({ path }) => path));
  for (const { path } of routes) {
    const root = path.slice(0, Math.max(0, path.indexOf('/{')));
    if (root !== '' && !whole.has(root)) roots.add(root);
  }
  return (method, path, query) => {
    const target = roots.has(path) ? `${path}/` : cleaned(path);
    return target === path ? undefined : redirect(method, query === '' ? target : `${target}?${query}`);
  };
}

/** Only a path that has such segments is taken apart. */
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

/** 307 keeps method and body. Readers get a page with a link beside it. */
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

import type { Match } from './router.js';

/** What is missing behind the beginnings of paths, in the words that clients know. */
const missing: ReadonlyMap<string, string> = new Map([
  ['/v1/acl/policy/', 'Missing Policy Name'],
  ['/v1/acl/token/', 'Missing Token Accessor'],
  ['/v1/acl/role/', 'missing ACL role ID'],
  ['/v1/acl/role/name/', 'missing ACL role name'],
  ['/v1/namespace/', 'Missing Namespace Name'],
]);

/** What to say of a path that no route has, whatever the method, when it lacks a part; undefined for any other one. */
export function incompletePath(path: string): Extract<Match, { readonly type: 'incomplete_path' }> | undefined {
  const message = missing.get(path);
  if (message !== undefined) return { type: 'incomplete_path', status: 400, message };
  const isTag = path.startsWith('/v1/job/') && path.endsWith('/tag');
  return isTag ? { type: 'incomplete_path', status: 404, message: 'invalid job tag endpoint' } : undefined;
}

import type { Match } from './router.js';

type Incomplete = Extract<Match, { readonly type: 'incomplete_path' }>;

/** Nomad's messages for paths with a missing last part. */
const missing: ReadonlyMap<string, string> = new Map([
  ['/v1/acl/policy/', 'Missing Policy Name'],
  ['/v1/acl/token/', 'Missing Token Accessor'],
  ['/v1/acl/role/', 'missing ACL role ID'],
  ['/v1/acl/role/name/', 'missing ACL role name'],
  ['/v1/namespace/', 'Missing Namespace Name'],
  ['/v1/service/', 'missing service name'],
  ...['ls', 'stat', 'cat', 'readat', 'stream', 'logs'].map((call): [string, string] => [
    `/v1/client/fs/${call}/`,
    'must provide a valid alloc id',
  ]),
]);

/** Path prefixes, with the status and message for unknown paths below them. */
const beginnings: readonly (readonly [string, 400 | 404, string])[] = [
  ['/v1/client/allocation/', 404, 'resource not found'],
  ['/v1/allocation/', 404, 'resource not found'],
  ['/v1/client/fs/', 404, 'Invalid method'],
  ['/v1/service/', 400, 'invalid URI'],
];

/** Prefixes of records that are read by a complete UUID: an empty one is invalid. */
const records: ReadonlySet<string> = new Set(['/v1/allocation/', '/v1/deployment/', '/v1/node/']);

/** The answer to a path with a missing or an excess part; undefined for other paths. */
export function incompletePath(method: string, path: string): Incomplete | undefined {
  const message = missing.get(path);
  if (message !== undefined) return { type: 'incomplete_path', isMissing: true, status: 400, message };
  if (method === 'GET' && records.has(path)) {
    const text = 'the ID must be a UUID of 36 characters';
    return { type: 'incomplete_path', isMissing: true, status: 500, message: text };
  }
  const found = beginnings.find(([beginning]) => path.startsWith(beginning));
  if (found !== undefined) {
    return { type: 'incomplete_path', isMissing: false, status: found[1], message: found[2] };
  }
  const isTag = path.startsWith('/v1/job/') && path.endsWith('/tag');
  return isTag
    ? { type: 'incomplete_path', isMissing: false, status: 404, message: 'invalid job tag endpoint' }
    : undefined;
}

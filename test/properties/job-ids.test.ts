import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientRoutes } from '../../adapters/http-server/calls/client-routes.js';
import { routeTable } from '../../adapters/http-server/calls/route-table.js';
import { createRouter, type Match } from '../../adapters/http-server/calls/router.js';

/*
 * A client writes the ID of a job into a path as one escaped segment. Whatever the ID, each route of jobs gets that ID,
 * unless the ID is of a shape that no path can carry.
 */

const prefix = '/v1/job/';
const suffixes = [...new Set(clientRoutes.map(({ path }) => path))]
  .filter((path) => path.startsWith(`${prefix}{job_id}`))
  .map((path) => path.slice(`${prefix}{job_id}`.length));
const fixed = suffixes.filter((suffix) => suffix !== '' && !suffix.includes('{'));

const router = createRouter({
  routes: routeTable,
  known: clientRoutes,
  openPrefixes: [prefix, '/v1/var/'],
  widePrefixes: [],
});
const jobRoutes = routeTable.filter(({ path }) => path.startsWith(prefix));

/** Why no path can carry the ID; undefined when one can. */
function unreachable(id: string): string | undefined {
  if (id === '') return 'empty';
  if (/\p{Surrogate}/u.test(id)) return 'cannot be escaped';
  if (id === '.' || id === '..') return 'URLs drop such segments';
  const ending = fixed.find((suffix) => id.endsWith(suffix));
  if (ending !== undefined) return `is read as ${ending} of another job`;
  return /\/versions\/[^/]*\/tag$/.test(id) || id.endsWith('/tag') ? 'is read as a tag of another job' : undefined;
}

const word = fc.constantFrom(
  ...fixed.map((suffix) => suffix.slice(1)),
  'tag',
  'versions',
  'a',
  'dispatch',
  '..',
  '.',
  '%2F',
);
const jobId = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.array(word, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
  fc.tuple(fc.string({ maxLength: 6 }), word).map(([start, end]) => `${start}/${end}`),
  fc.tuple(fc.string({ maxLength: 6 }), word).map(([start, end]) => start + end),
);

/** The path as it is after a client's URL parser has had it. */
function pathOf(id: string, suffix: string): string {
  return new URL(prefix + encodeURIComponent(id) + suffix, 'http://localhost').pathname;
}

describe('the ID of a job', () => {
  it('reaches every route of jobs as it is', () => {
    fc.assert(
      fc.property(jobId, fc.constantFrom(...jobRoutes), (id, route) => {
        fc.pre(unreachable(id) === undefined);
        const suffix = route.path.slice(`${prefix}{job_id}`.length).replace('{name}', 'kept');
        // A version of a job whose ID has a slash cannot be tagged: the path has four segments, as clients know it.
        fc.pre(!suffix.endsWith('/tag') || !id.includes('/'));
        const match: Match = router(route.methods[0], pathOf(id, suffix))._unsafeUnwrap();
        expect(match).toMatchObject({ type: 'found', route: { path: route.path } });
        if (match.type === 'found') expect(match.pathValues[0]).toBe(id);
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['a/plan', 'a/periodic/force', 'plan/plan', '/plan', 'x/tag', '.', '..'])('cannot be %j', (id) => {
    expect(unreachable(id)).toBeDefined();
    const match = router('GET', pathOf(id, '')).unwrapOr(undefined);
    if (match?.type === 'found' && match.route.path === `${prefix}{job_id}`) expect(match.pathValues[0]).not.toBe(id);
  });

  it.each(['plan', 'a/b', 'a/planner', 'a/xplan', 'a%2Fplan', 'a b', 'dispatch/x', '...', '%', '日本', '/'])(
    'can be %j',
    (id) => {
      expect(unreachable(id)).toBeUndefined();
      const match: Match = router('GET', pathOf(id, ''))._unsafeUnwrap();
      expect(match).toMatchObject({ type: 'found', pathValues: [id] });
    },
  );
});

import { validateHeaderName, validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpResponse, requestFrom } from '../../adapters/compat/index.js';
import { routeTable } from '../../adapters/http-server/calls/route-table.js';
import type { Route } from '../../adapters/http-server/calls/router.js';
import type { Engine } from '../../src/index.js';
import type { Logger } from '../../src/ports/index.js';
import { filledEngine } from '../adapters/http-server/engine-under-test.js';
import { bodyFor, parametersOf, targetFor } from '../adapters/http-server/route-samples.js';
import { hostileText, hostileValue, pathsIn, replacedAt } from '../support/hostile-values.js';

/*
 * Every route of the table is sent hostile values. Whatever the value, the answer is well-formed, nothing is logged
 * as a failure, and an answer that is not a success leaves the store as it was.
 */

/** A long list costs a server that reads it item by item more than its size shows. */
const longList = fc.constant(Array.from({ length: 3000 }, () => ({})));
const hostileMember = fc.oneof({ weight: 5, arbitrary: hostileValue }, { weight: 1, arbitrary: longList });

/** A body that is right but for one value, or altogether wrong. */
function hostileBody(route: Route): fc.Arbitrary<string | Buffer | undefined> {
  const good = bodyFor(route);
  const written = hostileMember.map((value) => JSON.stringify(value));
  const broken = fc.constantFrom(
    '{',
    '[',
    '"',
    '{"Job":{}}}',
    '\ufeff{}',
    '{"a":1,}',
    '[1e999]',
    '{"__proto__":{"x":1}}',
    '['.repeat(100_000),
    '{"Job":'.repeat(5000),
    '{"data":{"type":"notification-configurations","attributes":{"__proto__":{}}}}',
  );
  const bytes = fc.uint8Array({ maxLength: 64 }).map((array) => Buffer.from(array));
  const others = [fc.constant(undefined), written, broken, bytes];
  if (good === undefined) return fc.oneof(...others);
  const altered = fc
    .tuple(fc.constantFrom(...pathsIn(good)), hostileMember)
    .map(([path, value]) => JSON.stringify(replacedAt(good, path, value)));
  return fc.oneof({ arbitrary: altered, weight: 4 }, ...others);
}

function hostileTarget(route: Route): fc.Arbitrary<string> {
  const path = fc.oneof(
    { arbitrary: fc.constant(targetFor(route)), weight: 3 },
    hostileText.map((text) => route.path.replaceAll(/\{\w+\}/g, () => encodeLoosely(text))),
    fc.string({ maxLength: 12 }).map((text) => route.path.replaceAll(/\{\w+\}/g, text.replaceAll(/[?#\s]/g, ''))),
  );
  const names = [...parametersOf(route), 'pretty', 'unknown', '__proto__', 'namespace', 'region'];
  const pair = fc
    .tuple(fc.constantFrom(...names), hostileText, fc.boolean())
    .map(
      ([name, value, raw]) =>
        `${encodeURIComponent(name)}=${raw ? value.replaceAll(/[\s#]/g, '') : encodeLoosely(value)}`,
    );
  // Waiting is tried elsewhere: here nothing would end it.
  const query = fc
    .array(pair, { maxLength: 3 })
    .map((pairs) => pairs.filter((text) => !text.startsWith('index=')).join('&'));
  return fc
    .tuple(path, query)
    .map(([text, asked]) => (asked === '' ? text : text + (text.includes('?') ? '&' : '?') + asked));
}

/** Lone surrogates cannot be percent-encoded; they go as they are, as the bytes of a broken client would. */
function encodeLoosely(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
}

const headers = fc.oneof(
  fc.constant({}),
  fc.constant({ 'content-type': 'application/json' }),
  fc.constant({ 'content-type': 'application/vnd.api+json; charset=utf-8', 'accept-encoding': 'gzip' }),
  fc.record({ 'content-type': hostileText, accept: hostileText, 'accept-encoding': hostileText, host: hostileText }),
);

function checkShape(route: Route, response: HttpResponse): void {
  expect(response.headers.length % 2).toBe(0);
  for (let i = 0; i < response.headers.length; i += 2) {
    validateHeaderName(response.headers[i] as string);
    validateHeaderValue(response.headers[i] as string, response.headers[i + 1] as string);
  }
  if (response.status < 400 || response.headers.includes('Content-Encoding')) return;
  const body = response.body.toString();
  expect(body.length).toBeLessThan(40_000);
  // The length of a target is judged before anybody knows what it leads to.
  if (route.interface === 'notifications' && body !== '' && response.status !== 414) {
    const { errors } = JSON.parse(body) as { errors: { status: unknown; title: unknown }[] };
    expect(errors.length).toBeGreaterThan(0);
    for (const error of errors) expect(error).toMatchObject({ status: expect.any(String), title: expect.any(String) });
  }
}

/** Refusals of the job interface that its contract answers with 500: the request is understood, the state forbids it. */
function isContractual500(route: Route, response: HttpResponse): boolean {
  const body = response.body.toString();
  return route.interface === 'jobs' && !body.startsWith('internal error') && !body.startsWith('the store failed');
}

interface Watched {
  readonly engine: Engine;
  readonly failures: unknown[];
}

async function watchedEngine(): Promise<Watched> {
  const failures: unknown[] = [];
  const note = (fields: unknown): void => {
    failures.push(fields);
  };
  const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: note };
  return { engine: await filledEngine({}, logger), failures };
}

async function indexOf(engine: Engine): Promise<number> {
  return (await engine.storage.read((view) => view.index))._unsafeUnwrap();
}

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 40);

describe('hostile requests', () => {
  const asked = (['neutral', 'upstream'] as const).flatMap((names) =>
    routeTable.map((route) => ({ name: `${route.methods[0]} ${route.path}`, names, route })),
  );

  it.each(asked)('$name, with the $names names', async ({ route, names }) => {
    let watched = await watchedEngine();
    let handler = createHttpHandler(watched.engine, { access: 'open', names });
    const request = fc.record({ target: hostileTarget(route), body: hostileBody(route), headers });
    await fc.assert(
      fc.asyncProperty(request, async ({ target, body, headers: sent }) => {
        const before = await indexOf(watched.engine);
        const response = await handler(
          requestFrom({ method: route.methods[0], target, headers: sent, ...(body === undefined ? {} : { body }) }),
        );
        checkShape(route, response);
        expect(watched.failures).toEqual([]);
        if (response.status >= 500) expect(isContractual500(route, response), response.body.toString()).toBe(true);
        if (response.status >= 400) expect(await indexOf(watched.engine)).toBe(before);
        else if ((await indexOf(watched.engine)) !== before) {
          // What was changed may be what the next request needs.
          watched = await watchedEngine();
          handler = createHttpHandler(watched.engine, { access: 'open', names });
        }
      }),
      { numRuns },
    );
  });
});

describe('any target and any method', () => {
  it('gets a well-formed answer', async () => {
    const { engine, failures } = await watchedEngine();
    const handler = createHttpHandler(engine, { access: 'token' });
    const method = fc.oneof(fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'), fc.string());
    const piece = fc.constantFrom(
      '/',
      '//',
      'v1',
      'job',
      'jobs',
      'notification-configurations',
      'workspaces',
      '%2F',
      '%',
      '..',
      '?',
      '#',
      'a',
      'plan',
    );
    const target = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    );
    await fc.assert(
      fc.asyncProperty(method, target, async (verb, path) => {
        const response = await handler(requestFrom({ method: verb, target: path }));
        expect([200, 204, 400, 401, 403, 404, 405]).toContain(response.status);
        expect(failures).toEqual([]);
      }),
      { numRuns: numRuns * 10 },
    );
  });
});

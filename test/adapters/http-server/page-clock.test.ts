import { describe, expect, it } from 'vitest';
import {
  createHttpHandler,
  type HttpHandlerOptions,
  type HttpResponse,
  requestFrom,
} from '../../../adapters/compat/index.js';
import type { PageClock, PageClockState } from '../../../adapters/http-server/edge/page-clock.js';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { day, hour } from '../../../src/shared/duration.js';

/* The clock of an engine on virtual time, which the web page shows and moves. */

const start = Date.parse('2030-01-01T00:00:00Z');

function house(options: HttpHandlerOptions = { access: 'open' }) {
  const moves: number[] = [];
  let state: PageClockState = {
    now: start,
    start,
    end: start + day,
    target: start,
    isMoving: false,
    world: 2,
    title: 'a <b>',
  };
  const clock: PageClock = {
    state: () => state,
    moveTo: (at) => {
      moves.push(at);
      state = { ...state, target: at, isMoving: true };
    },
  };
  const ports = { storage: memoryStorage(), clock: manualClock(start), ids: sequentialIds() };
  const engine = createEngine({ ...ports, delivery: recordingDelivery() });
  const handler = createHttpHandler(engine, { page: { clock }, ...options } as HttpHandlerOptions);
  const ask = (method: string, body?: unknown, headers = {}): Promise<HttpResponse> =>
    handler(requestFrom({ method, target: '/ui-clock', body, headers }));
  return { ask, moves, handler };
}

const json = ({ body }: HttpResponse): unknown => JSON.parse(String(body));
const shown = {
  now: '2030-01-01T00:00:00.000Z',
  start: '2030-01-01T00:00:00.000Z',
  end: '2030-01-02T00:00:00.000Z',
  target: '2030-01-01T00:00:00.000Z',
  isMoving: false,
  world: 2,
  title: 'a <b>',
};

describe('/ui-clock', () => {
  it('is answered with where the clock is, and is not kept by caches', async () => {
    const answer = await house().ask('GET');
    expect([answer.status, json(answer)]).toEqual([200, shown]);
    expect(answer.headers).toContain('no-store');
  });

  it('begins to move it, and answers with the target', async () => {
    const { ask, moves } = house();
    const answer = await ask('POST', { to: '2030-01-01T01:00:00Z' });
    expect([answer.status, json(answer)]).toEqual([
      200,
      { ...shown, target: '2030-01-01T01:00:00.000Z', isMoving: true },
    ]);
    expect(moves).toEqual([start + hour]);
  });

  it.each([['2030-01-01T00:00:00Z'], ['2030-01-02T00:00:00Z'], ['2030-01-01T03:00:00+02:00']])(
    'takes %s',
    async (to) => {
      const { ask, moves } = house();
      expect((await ask('POST', { to })).status).toBe(200);
      expect(moves).toEqual([Date.parse(to)]);
    },
  );

  it.each([
    ['before the start', { to: '2029-12-31T23:59:59.999Z' }],
    ['after the end', { to: '2030-01-02T00:00:00.001Z' }],
    ['no time', { to: 'tomorrow' }],
    ['a day', { to: '2030-01-01' }],
    ['a time of no zone', { to: '2030-01-01T01:00:00' }],
    ['a number', { to: start }],
    ['a month that does not exist', { to: '2030-13-01T00:00:00Z' }],
    ['nothing', {}],
    ['a list', []],
    ['null', null],
    ['more', { to: '2030-01-01T01:00:00Z', by: 1 }],
    ['no JSON', '{'],
  ])('refuses %s, and does not move', async (_what, body) => {
    const { ask, moves } = house();
    const answer = await ask('POST', body);
    expect(answer.status).toBe(400);
    expect(moves).toEqual([]);
  });

  it('says which times it takes', async () => {
    const answer = await house().ask('POST', { to: '2031-01-01T00:00:00Z' });
    expect(String(answer.body)).toContain('2030-01-01T00:00:00.000Z to 2030-01-02T00:00:00.000Z');
  });

  it('is moved by management callers only', async () => {
    const { ask, moves } = house({ authenticate: () => ({ ...hostPrincipal, management: false }) });
    expect((await ask('GET')).status).toBe(200);
    expect((await ask('POST', { to: '2030-01-01T01:00:00Z' })).status).toBe(403);
    expect(moves).toEqual([]);
  });

  it('is not moved from a page of another origin', async () => {
    const { ask, moves } = house();
    const headers = { origin: 'https://evil.example.net', 'sec-fetch-site': 'cross-site' };
    expect((await ask('POST', { to: '2030-01-01T01:00:00Z' }, headers)).status).toBe(403);
    expect(moves).toEqual([]);
  });

  it.each([[true], [{ title: 'Signals' }], [false]])('does not exist with page: %o', async (page) => {
    const { ask } = house({ access: 'open', page });
    expect((await ask('GET')).status).toBe(404);
    expect((await ask('POST', { to: '2030-01-01T01:00:00Z' })).status).toBe(404);
  });

  it('is known to the page', async () => {
    const shell = async (options?: HttpHandlerOptions): Promise<string> =>
      String((await house(options).handler(requestFrom({ method: 'GET', target: '/ui/' }))).body);
    expect(await shell()).toContain('"hasClock":true');
    expect(await shell({ access: 'open', page: true })).not.toContain('hasClock');
  });

  it.each([[{}], [{ state: () => 1 }], ['now'], [null]])('an option %o is refused', (clock) => {
    const page = { clock } as never;
    expect(() => house({ access: 'open', page })).toThrow(
      /page\.clock takes a clock with the methods state and moveTo/,
    );
  });
});

import { describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpResponse, requestFrom } from '../../../adapters/compat/index.js';
import { manualClock } from '../../../adapters/memory/index.js';
import { plainType } from '../../../src/api/answers.js';
import { anonymousPrincipal, type Principal } from '../../../src/index.js';
import { engineUnderTest } from './engine-under-test.js';

const caller = (accessor: string, more: Partial<Principal> = {}): Principal => ({
  accessor,
  name: accessor,
  management: false,
  namespaces: {},
  workspaces: {},
  ...more,
});
const reader = { namespaces: { default: { capabilities: ['list-jobs' as const] } } };

/** Who asks, by the header `x-who`: `nobody` from an address, or a token. */
const callers: Readonly<Record<string, Principal>> = {
  nobody: anonymousPrincipal,
  management: caller('management', { management: true }),
  agent: caller('agent', { node: { pool: 'default' } }),
  reader: caller('reader', reader),
  other: caller('other', reader),
  powerless: caller('powerless'),
  elsewhere: caller('elsewhere', { namespaces: { spare: { capabilities: ['list-jobs'] } } }),
};

/** A server on which 80 reads may wait: 10 of all strangers, 5 of each; 20 of each other caller; 70 of all but management and agents. */
function server(names: 'neutral' | 'upstream' = 'neutral') {
  const clock = manualClock();
  const handler = createHttpHandler(engineUnderTest({}, undefined, clock), {
    authenticate: ({ headers }) => callers[String(headers['x-who'])],
    maximumWaitingReads: 80,
    names,
  });
  const answered: HttpResponse[] = [];
  const ask = (
    who: string,
    target: string,
    { address = '192.0.2.1', accept = '*/*', closed = [] as (() => void)[] } = {},
  ) => {
    const request = requestFrom({ target, headers: { 'x-who': who, accept } });
    return handler({
      ...request,
      remoteAddress: () => address,
      whenClosed: (listener) => closed.push(listener),
    });
  };
  return {
    clock,
    ask,
    /** How many of so many reads wait. */
    async waiting(who: string, count: number, options: Parameters<typeof ask>[2] & { readonly target?: string } = {}) {
      const before = answered.length;
      const target = options.target ?? '/v1/jobs?index=999999&wait=10m';
      for (let n = 0; n < count; n += 1) void ask(who, target, options).then((response) => answered.push(response));
      await clock.settle();
      return count - (answered.length - before);
    },
    answered,
  };
}

/** A list that everybody may read, of what they may see. */
const everywhere = '/v1/namespaces?index=999999&wait=10m';

describe('reads that wait', () => {
  it('are bounded for each caller and address, with a reserve for management and agents', async () => {
    const { waiting, answered } = server();
    expect(await waiting('nobody', 9, { target: everywhere })).toBe(5);
    expect(await waiting('nobody', 9, { target: everywhere, address: '192.0.2.2' })).toBe(5);
    expect(await waiting('nobody', 9, { target: everywhere, address: '192.0.2.3' })).toBe(0);
    expect(await waiting('powerless', 9, { target: everywhere })).toBe(0);
    expect(await waiting('reader', 30)).toBe(20);
    expect(await waiting('other', 30)).toBe(20);
    expect(await waiting('elsewhere', 30, { target: '/v1/jobs?namespace=spare&index=999999&wait=10m' })).toBe(20);
    expect(await waiting('management', 30)).toBe(10);
    expect(await waiting('agent', 9)).toBe(0);
    expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([429, 403]));
  });

  it('count only if the caller has the right that the read needs', async () => {
    const { waiting, answered } = server();
    expect(await waiting('nobody', 5, { target: everywhere })).toBe(5);
    expect(await waiting('nobody', 5, { target: everywhere, address: '192.0.2.2' })).toBe(5);
    // A right elsewhere does not make it a caller with a larger share.
    expect(await waiting('elsewhere', 9, { target: '/v1/services?namespace=*&index=999999&wait=10m' })).toBe(0);
    expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([429]));
  });

  it.each(['neutral', 'upstream'] as const)(
    'beyond the bound are refused with what to do, with %s names',
    async (names) => {
      const { ask, waiting } = server(names);
      expect(await waiting('reader', 20)).toBe(20);
      const { status, headers, body } = await ask('reader', '/v1/jobs?index=999999');
      expect([status, String(body)]).toEqual([
        429,
        expect.stringMatching(
          /^too many reads of this caller wait for a change: read without the parameter "index", or /,
        ),
      ]);
      expect(headers[headers.indexOf('Retry-After') + 1]).toBe('1');
      const plain = await ask('reader', '/v1/jobs?index=999999', { accept: plainType });
      expect([plain.status, JSON.parse(String(plain.body))]).toEqual([
        429,
        { error: { type: 'refused', message: expect.stringContaining('too many reads') } },
      ]);
      // What is answered at once is not refused.
      for (const target of ['/v1/jobs', '/v1/jobs?index=0', '/v1/status/leader']) {
        expect((await ask('reader', target)).status, target).toBe(200);
      }
      if (names === 'upstream') expect((await ask('reader', '/v1/volumes?index=999999')).status).toBe(429);
    },
  );

  it('make room when they are answered, and when their client goes away', async () => {
    const { clock, waiting, answered } = server();
    const closed: (() => void)[] = [];
    expect(await waiting('reader', 20, { closed })).toBe(20);
    expect(await waiting('reader', 1)).toBe(0);
    for (const close of closed) close();
    await clock.settle();
    expect(await waiting('reader', 25)).toBe(20);
    await clock.advance(15 * 60_000);
    expect(answered.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20);
    expect(await waiting('reader', 25)).toBe(20);
  });
});

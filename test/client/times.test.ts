import { afterEach, expect, test, vi } from 'vitest';
import { connect } from '../../src/client/index.js';

afterEach(() => vi.restoreAllMocks());

test.each([2 ** 31, Number.POSITIVE_INFINITY])(
  'a call may take %s ms: no timer of the platform ends it at once',
  async (timeout) => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const fetch = async () =>
      new Response('[]', { headers: { 'content-type': 'application/json', 'x-svc-index': '1' } });
    await connect({ url: 'http://127.0.0.1:1', timeout, fetch }).namespaces.list();
    expect(timers.mock.calls.map(([, after]) => after)).toEqual([2 ** 31 - 1]);
  },
);

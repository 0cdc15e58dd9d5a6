import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { describe, expect, it } from 'vitest';
import { createHttpHandler, fetchHandler, requestFrom } from '../../../adapters/compat/index.js';
import { hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { engineUnderTest } from './engine-under-test.js';

describe('GET /v1/event/stream', () => {
  it('is lines: a sign of life at once, then a transaction each', async () => {
    const engine = engineUnderTest();
    const handler = createHttpHandler(engine, { access: 'open' });
    const response = await handler(requestFrom({ target: '/v1/event/stream?topic=Job:web&topic=Evaluation:web' }));
    expect(response.status).toBe(200);
    const lines = (response.body as AsyncIterable<string>)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('{}\n');
    const job = {
      ID: 'web',
      TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: 'x' } }] }],
    };
    expect((await registerJob(engine, hostPrincipal, { job })).isOk()).toBe(true);
    const line = String((await lines.next()).value);
    expect(line.endsWith('\n')).toBe(true);
    expect(JSON.parse(line)).toMatchObject({
      Events: [
        { Topic: 'Job', Type: 'JobRegistered', Key: 'web', FilterKeys: null, Payload: { Job: { ID: 'web' } } },
        { Topic: 'Evaluation', Type: 'JobRegistered', FilterKeys: ['web', ''] },
      ],
    });
    await lines.return?.();
  });

  it('comes at once behind middleware that compresses', async () => {
    const app = new Hono();
    app.use(compress());
    const answer = fetchHandler(createHttpHandler(engineUnderTest(), { access: 'open' }));
    app.all('/*', (context) => answer(context.req.raw));
    const headers = { host: 'localhost', 'accept-encoding': 'gzip' };
    const response = await app.request('/v1/event/stream', { headers });
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value as Uint8Array)).toBe('{}\n');
    await reader?.cancel();
  });

  it.each(['topic=a:b:c', 'index=x', 'index=1.5', 'index=99999999999999999999'])('refuses %s', async (query) => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
    expect((await handler(requestFrom({ target: `/v1/event/stream?${query}` }))).status).toBe(400);
  });
});

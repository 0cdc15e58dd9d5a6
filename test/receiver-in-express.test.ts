import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifySignature } from '../src/receiver.js';

/* The receiver of docs/guides/verify-in-express-fastify-hono.md, also behind a parser that reads every body first. */

const token = 'a token';
const app = express();
app.use('/parsed', express.json());
app.post(['/notifications', '/parsed'], express.raw({ type: 'application/json' }), (request, response) => {
  // What a receiver in JavaScript passes, of any type.
  const body = request.body as Buffer;
  const checked = verifySignature({ body, headers: request.headers, token });
  response.writeHead(checked.isErr() ? 401 : 204).end();
});
const server = createServer(app);
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());

const body = JSON.stringify({ payload_version: 1, notifications: [] });
const signature = createHmac('sha512', token).update(body).digest('hex');
const post = async (path: string, headers: Record<string, string>, sent: string | undefined) => {
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers,
    ...(sent && { body: sent }),
  });
  return [answer.status, await answer.text()];
};

it('accepts a signed notification', async () => {
  const headers = { 'content-type': 'application/json', 'X-SVC-Notification-Signature': signature };
  expect(await post('/notifications', headers, body)).toEqual([204, '']);
});

it.each([
  ['/notifications', 'application/json', '{}'],
  ['/notifications', 'application/json; charset=utf-8', '{}'],
  ['/notifications', 'text/plain', body],
  ['/notifications', 'application/x-www-form-urlencoded', 'a=1'],
  ['/notifications', undefined, undefined],
  ['/parsed', 'application/json', body],
])('%s answers 401 without details for a body of the type %s', async (path, type, sent) => {
  for (const signed of [{}, { 'x-svc-notification-signature': signature }, { 'x-svc-notification-signature': '00' }]) {
    const headers = { ...(type && { 'content-type': type }), ...signed };
    if (path === '/notifications' && sent === body && type === 'application/json') continue;
    expect(await post(path, headers, sent)).toEqual([401, '']);
  }
});

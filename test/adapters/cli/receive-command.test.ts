import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { startReceiver } from '../../../adapters/cli/receive-command.js';
import { signBody, standardSignature } from '../../../src/notifications/signature.js';
import { newSigningKeys } from '../../../src/receiver.js';
import { typed } from './typed-commands.js';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** A receiver whose secret is `token`, and what it prints for a request. */
async function receiver(token: string) {
  let printed = '';
  const terminal = {
    out: (text: string) => {
      printed += text;
    },
    error: () => undefined,
    read: async () => `${token}\n`,
    colours: false,
    environment: {},
  };
  const options = { listen: '127.0.0.1:0', 'token-file': 'secret', status: undefined };
  const server = await startReceiver({ terminal, json: false, options } as never);
  open.push(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return async (payload: unknown, headers: Readonly<Record<string, string>> = {}) => {
    printed = '';
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
    await fetch(url, { method: 'POST', body, headers: { connection: 'close', ...headers } });
    return printed;
  };
}

it('receive tells what every kind of message is about', async () => {
  const send = await receiver('s');
  const run = { payload_version: 1, notifications: [{ trigger: 'run:errored', message: 'Run Errored' }] };
  expect(await send(run, { 'x-svc-notification-id': 'ne-1' })).toBe(
    'run:errored "Run Errored" id=ne-1 signature=missing\n',
  );
  const drift = { payload_version: 2, trigger_scope: 'assessment', trigger: 'assessment:drifted', message: 'Drift' };
  expect(await send(drift)).toMatch(/^assessment:drifted "Drift" /);
  const own = { type: 'order.created', timestamp: '2026-01-02T03:04:05Z', message: 'An order', data: {} };
  expect(await send(own)).toMatch(/^order\.created "An order" /);
  expect(await send({ text: 'to a chat' })).toMatch(/^message "to a chat" /);
  expect(await send('{"total":3}')).toMatch(/^message "\{\\"total\\":3\}" /);
  expect(await send('[1]')).toMatch(/^message "\[1\]" /);
  expect(await send('null')).toMatch(/^message "null" /);
  expect(await send('<p>')).toMatch(/^unknown "<p>" /);
});

it('receive checks signatures of all forms, whatever the body is', async () => {
  const send = await receiver('s');
  const body = '[1]';
  for (const name of ['x-svc-notification-signature', 'x-tfe-notification-signature']) {
    expect(await send(body, { [name]: signBody('s', body) })).toMatch(/ signature=right\n$/);
    expect(await send(body, { [name]: signBody('other', body) })).toMatch(/ signature=wrong\n$/);
  }
  expect(await send(body, { 'x-tfe-notification-id': 'ne-2' })).toMatch(/ id=ne-2 /);
  const { secretKey, publicKey } = newSigningKeys();
  const byKey = await receiver(publicKey);
  const seconds = Math.floor(Date.now() / 1000);
  const signed = {
    'webhook-id': 'ne-3',
    'webhook-timestamp': `${seconds}`,
    'webhook-signature': standardSignature([secretKey], 'ne-3', seconds, body),
    'x-svc-notification-signature': signBody(secretKey, body),
  };
  expect(await byKey(body, signed)).toBe('message "[1]" id=ne-3 signature=right\n');
  expect(await byKey(body, { ...signed, 'webhook-id': 'ne-4' })).toMatch(/ signature=wrong\n$/);
});

it('receive refuses an empty file of a token: everybody could sign', async () => {
  await expect(receiver('')).rejects.toThrow(/secret is empty: write the token/);
});

it('receive ends at a signal that comes as soon as it says that it listens', async () => {
  const onError = (): void => void process.emit('SIGTERM', 'SIGTERM');
  const { code, error } = await typed('', { onError }, 'receive', '--listen', '127.0.0.1:0');
  expect([code, error]).toEqual([0, expect.stringMatching(/^receiving on http:\/\/127\.0\.0\.1:\d+\n$/)]);
});

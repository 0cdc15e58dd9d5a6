import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { signBody, standardSignature } from '../../../src/notifications/signature.js';
import { verifySnippet } from '../../../web/screens/notify/verify-snippet.js';

const owner = { id: 'nc-1234567890abcdef', kind: 'generic', triggers: ['run:errored'], delivery: null } as const;
const request = (...names: readonly string[]) => ({
  method: 'POST',
  headers: Object.fromEntries(['content-type', ...names].map((name) => [name, 'x'])),
  bodyBytes: 2,
});
const programOf = (...given: Parameters<typeof verifySnippet>): string => {
  const snippet = verifySnippet(...given);
  return 'program' in snippet ? snippet.program : '';
};

describe('there is no program', () => {
  it.each([
    [
      'for another kind',
      { ...owner, kind: 'chat-a' } as const,
      request('x-svc-notification-signature'),
      'Only generic destinations',
    ],
    ['without a kept request', owner, null, 'is not kept'],
    ['without a signature', owner, request(), 'has no signing token'],
    [
      'for a header of the operator that is named like one',
      { ...owner, delivery: { headerNames: ['X-Own-Signature'] } },
      request('x-own-signature'),
      'has no signing token',
    ],
    ['for a name that is no header', owner, request("x', y: '-signature"), 'has no signing token'],
  ])('%s', (_, configuration, sent, why) => {
    expect(verifySnippet(configuration, sent)).toEqual({ why: expect.stringContaining(why) });
  });
});

it('names the header that was used, and the function for what is sent', () => {
  expect(programOf(owner, request('x-svc-notification-signature'))).toContain(
    'verifySignature({ body, headers: request.headers, token })',
  );
  expect(programOf(owner, request('x-tfe-notification-signature'))).toContain(
    "token, header: 'x-tfe-notification-signature' })",
  );
  const own = { ...owner, triggers: ['run:errored', 'invoice:paid'] };
  expect(programOf(own, request('x-svc-notification-signature'))).toContain(
    "import { verifySignedJson } from 'signalbox/receiver'",
  );
  expect(programOf(own, request('webhook-signature'))).toContain('verifyStandardSignedJson(');
  expect(programOf(owner, request('x-svc-notification-signature', 'webhook-signature'))).toContain(
    'verifyStandardSignature(',
  );
});

const token = 'a token of the configuration';
const body = JSON.stringify({
  payload_version: 1,
  run_id: 'run-1',
  notifications: [{ message: 'Run Errored', trigger: 'run:errored' }],
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Runs a program with the package from the sources; answers the statuses of requests with these headers and bodies. */
async function answersOf(program: string, sent: readonly (readonly [Record<string, string>, string])[]) {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-verify-'));
  const outfile = join(folder, 'program.mjs');
  await build({
    stdin: { contents: program, resolveDir: process.cwd() },
    alias: { 'signalbox/receiver': join(process.cwd(), 'src/receiver.ts') },
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'silent' },
  });
  const port = await freePort();
  const env = { ...process.env, NOTIFICATION_TOKEN: token, PORT: String(port) };
  const child = spawn(process.execPath, [outfile], { env, stdio: 'ignore' });
  const statuses: number[] = [];
  for (const [headers, content] of sent) {
    for (let tries = 0; ; tries += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: content }).catch(
        () => undefined,
      );
      if (answer !== undefined) {
        statuses.push(answer.status);
        break;
      }
      if (tries > 200) throw new Error('the program does not answer');
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  child.kill();
  await once(child, 'exit');
  await rm(folder, { recursive: true });
  return statuses;
}

it('runs, and accepts only what is signed with the token', async () => {
  const headers = (signature: string) => ({ 'x-svc-notification-signature': signature });
  const statuses = await answersOf(programOf(owner, request('x-svc-notification-signature')), [
    [headers(signBody(token, body)), body],
    [headers(signBody('another', body)), body],
    [headers(signBody(token, body)), `${body} `],
    [{}, body],
    [headers('x'), 'y'.repeat(1_100_000)],
  ]);
  expect(statuses).toEqual([204, 401, 401, 401, 413]);
});

it('runs with Standard Webhooks, and refuses what is replayed later', async () => {
  const now = Math.floor(Date.now() / 1000);
  const headers = (seconds: number) => ({
    'webhook-id': 'nd-1',
    'webhook-timestamp': String(seconds),
    'webhook-signature': standardSignature([token], 'nd-1', seconds, body),
  });
  const statuses = await answersOf(programOf(owner, request('webhook-signature')), [
    [headers(now), body],
    [headers(now - 3600), body],
    [headers(now), '{}'],
  ]);
  expect(statuses).toEqual([204, 401, 401]);
});

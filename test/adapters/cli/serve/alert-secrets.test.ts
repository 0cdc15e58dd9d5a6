import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import { connect } from '../../../../src/client/index.js';
import { patience } from '../../../support/patience.js';
import { endAll, signalbox, temporaryFolder } from '../cli-process.js';

afterAll(endAll);

it('an alert of a server quotes none of its keys, passwords and tokens', { timeout: 3 * patience }, async () => {
  const bodies: unknown[] = [];
  const receiver = createServer((request, response) => {
    void json(request).then((body) => bodies.push(body));
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const folder = temporaryFolder();
  const key = Buffer.alloc(32, 7).toString('base64');
  writeFileSync(join(folder, 'keys'), `k1 ${key}\n`, { mode: 0o600 });
  const seed = {
    workspaces: [{ id: 'ws-1', name: 'net', organization: 'acme' }],
    run_notifications: [{ workspace: 'ws-1' }],
    tokens: [{ secret: 'token-of-a-manager', name: 'manager', management: true }],
  };
  writeFileSync(join(folder, 'seed.json'), JSON.stringify(seed));
  const options = ['--encryption-key-file', join(folder, 'keys'), '--seed', join(folder, 'seed.json')];
  const environment = {
    SIGNALBOX_SMTP_URL: 'smtp://alerts:password-of-mail@mail.example.net:587',
    SIGNALBOX_MAIL_FROM: 'alerts@example.net',
  };
  const server = signalbox(
    ['serve', '--listen', '127.0.0.1:0', '--access', 'token', '--allow-outbound', '127.0.0.1/32', ...options],
    environment,
  );
  const box = connect({ url: await server.origin(), token: 'token-of-a-manager' });
  const attributes = {
    destinationType: 'generic' as const,
    name: 'hook',
    enabled: true,
    url: `http://127.0.0.1:${port}/`,
    token: 'signing-token-of-the-hook',
    triggers: ['run:errored' as const],
  };
  (await box.notifications.create('ws-1', attributes))._unsafeUnwrap();
  const secrets = [key, 'password-of-mail', 'token-of-a-manager', 'signing-token-of-the-hook'];
  const task = {
    Name: 't',
    Driver: 'raw_exec',
    Config: { command: '/bin/sh', args: ['-c', `printf '%s\\n' before ${secrets.join(' ')}; exit 1`] },
    RestartPolicy: { Attempts: 0, Mode: 'fail' as const },
  };
  const group = { Name: 'g', ReschedulePolicy: { Attempts: 0, Unlimited: false }, Tasks: [task] };
  (await box.jobs.register({ ID: 'leaks', Type: 'batch', TaskGroups: [group] }))._unsafeUnwrap();
  const failure = () => JSON.stringify(bodies.find((body) => JSON.stringify(body).includes('run_failure')) ?? null);
  await expect.poll(failure, { timeout: patience }).toContain('before');
  expect(failure()).toContain(`before${'\\n[redacted]'.repeat(4)}`);
  for (const secret of secrets) expect(failure()).not.toContain(secret);
  receiver.closeAllConnections();
  receiver.close();
});

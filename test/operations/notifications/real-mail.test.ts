import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { afterEach, expect, test } from 'vitest';
import { aesCipher } from '../../../adapters/node/aes-cipher.js';
import { randomIds } from '../../../adapters/node/random-ids.js';
import { systemClock } from '../../../adapters/node/system-clock.js';
import { smtpMailer } from '../../../adapters/smtp/smtp-mailer.js';
import { sqliteStorage } from '../../../adapters/sqlite/sqlite-storage.js';
import { undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine, type Engine, type EnginePorts } from '../../../src/engine.js';
import { updateNotificationConfiguration } from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import { verifyNotificationConfiguration } from '../../../src/operations/notifications/configurations/verify-notification-configuration.js';
import { listDeliveries } from '../../../src/operations/notifications/log/list-deliveries.js';
import { putUser, putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

import { startReceiver } from '../../support/receiver.js';
import { create, must, owner, publish, workspaceInput } from './engine-setup.js';

/* Everything real: SQLite on the disk, AES-256-GCM, mail over SMTP, HTTP over sockets, the system clock. */

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

test('an e-mail configuration: its test mail and the mail of an event arrive with text and HTML', async () => {
  const mailbox = await startMailbox();
  const mailer = smtpMailer({ url: mailbox.url, from: 'Signalbox <alerts@example.net>' });
  opened.push(() => mailer.close());
  const { engine } = await startEngine({ mailer });
  const attributes = { destinationType: 'email', users: ['user-1'], enabled: false };
  const configurationId = (await must(create(engine, attributes))).id;

  await must(verifyNotificationConfiguration(engine, hostPrincipal, { configurationId }));
  const verification = await mailbox.next();
  expect(verification).toMatchObject({
    from: { address: 'alerts@example.net' },
    to: [{ address: 'user-1@example.org' }],
    text: expect.stringContaining('Deploy hook'),
    html: expect.stringContaining('Deploy hook'),
  });

  await must(updateNotificationConfiguration(engine, owner, { configurationId, attributes: { enabled: true } }));
  await publish(engine, { message: 'Run Errored', runMessage: 'Größere Netze & <b>mehr</b>' });
  const mail = await mailbox.next();
  expect(mail.to).toMatchObject([{ address: 'user-1@example.org' }]);
  expect(mail.text).toContain('Größere Netze & <b>mehr</b>');
  expect(mail.html).toContain('Größere Netze &amp; &lt;b&gt;mehr&lt;/b&gt;');
});

test('with a cipher, neither token nor URL can be read in the files of the store', async () => {
  const receiver = await startReceiver();
  opened.push(() => receiver.close());
  const [token, path] = ['a-token-that-nobody-reads', 'a-path-that-nobody-reads'];
  const attributes = { url: `${receiver.url}/${path}`, token };
  const secretsIn = async (ports: Partial<EnginePorts>): Promise<string[]> => {
    const { engine, files } = await startEngine(ports);
    const before = receiver.requests.length;
    const { id } = await must(create(engine, attributes));
    await publish(engine);
    await expect
      .poll(async () => (await must(listDeliveries(engine, hostPrincipal, { configurationId: id }))).items[0]?.outcome)
      .toBe('delivered');
    // Deciphered for the attempt: verification and event went to the secret path.
    expect(receiver.requests.slice(before).map((request) => request.path)).toEqual([`/${path}`, `/${path}`]);
    return [token, path].filter((secret) => files().some((bytes) => bytes.includes(secret)));
  };
  const cipher = aesCipher({ keys: [{ id: 'k1', key: Buffer.alloc(32, 7) }], current: 'k1' });
  expect(await secretsIn({ cipher })).toEqual([]);
  // Without one they are there, or the search above proves nothing.
  expect(await secretsIn({})).toEqual([token, path]);
});

async function startEngine(ports: Partial<EnginePorts>): Promise<{ engine: Engine; files: () => Buffer[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-mail-'));
  const file = join(folder, 'store.db');
  const storage = (await sqliteStorage(file))._unsafeUnwrap();
  const delivery = undiciDelivery({ allow: { cidrs: ['127.0.0.0/8'] } });
  const engine = createEngine({ storage, clock: systemClock(), ids: randomIds(), delivery, ...ports });
  await must(putWorkspace(engine, hostPrincipal, workspaceInput));
  const email = 'user-1@example.org';
  await must(putUser(engine, hostPrincipal, { id: 'user-1', username: 'dana', email, organization: 'acme' }));
  engine.start();
  opened.push(async () => {
    await engine.stop();
    await delivery.close();
    await storage.close();
    rmSync(folder, { recursive: true });
  });
  return { engine, files: () => [file, `${file}-wal`].map((path) => readFileSync(path)) };
}

async function startMailbox(): Promise<{ readonly url: string; next(): Promise<Email> }> {
  const mails: Email[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    closeTimeout: 100,
    onData: (stream, _session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        void PostalMime.parse(Buffer.concat(chunks)).then((mail) => {
          mails.push(mail);
          callback();
        });
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  opened.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  let taken = 0;
  return {
    url: `smtp://127.0.0.1:${port}`,
    next: async () => {
      taken += 1;
      await expect.poll(() => mails.length).toBeGreaterThanOrEqual(taken);
      return mails[taken - 1] as Email;
    },
  };
}

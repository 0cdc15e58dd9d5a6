import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, connect, createServer as createSocketServer, type Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import { testAuthority } from '../../support/receiver.js';

const pem = (name: string): string => readFileSync(new URL(`../../golden/tls/${name}.pem`, import.meta.url), 'utf8');
const own = (name: string) => ({ certificate: pem(name), key: pem(`${name}-key`) });

test('a client certificate is shown, and its connections are not used for others', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer(
    { cert: pem('trusted'), key: pem('trusted-key'), requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      seen.push((request.socket as TLSSocket).getPeerCertificate().fingerprint256);
      response.writeHead(204).end();
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const delivery = undiciDelivery({ ca: testAuthority, allow: { hosts: ['localhost'] } });
  const send = (name?: string, clientCertificate = name === undefined ? undefined : own(name)) =>
    delivery.send({
      method: 'POST',
      url: `https://localhost:${(server.address() as AddressInfo).port}/`,
      headers: {},
      body: '{}',
      connectTimeout: 10_000,
      totalTimeout: 20_000,
      maximumResponseBytes: 10,
      ...(clientCertificate === undefined ? {} : { clientCertificate }),
    });
  for (const name of ['self-signed', undefined, 'expired', 'self-signed']) {
    expect((await send(name))._unsafeUnwrap().status).toBe(204);
  }
  const print = (name: string): string => new X509Certificate(pem(name)).fingerprint256;
  expect(seen).toEqual([print('self-signed'), undefined, print('expired'), print('self-signed')]);
  // A connection of its owner stands; the certificate alone, which everybody may have, does not open it to others.
  const stolen = await send('self-signed', { ...own('self-signed'), key: pem('trusted-key') });
  expect(seen).toHaveLength(4);
  expect(stolen._unsafeUnwrapErr().type).toBe('tls_failed');
  const broken = await delivery.send({
    ...{ method: 'POST', url: 'https://localhost:1/', headers: {}, body: '' },
    ...{ connectTimeout: 10_000, totalTimeout: 20_000, maximumResponseBytes: 10 },
    clientCertificate: { certificate: 'no certificate', key: 'no key' },
  });
  expect(broken._unsafeUnwrapErr().type).toBe('tls_failed');
  await delivery.close();
  server.close();
});

test('an alert of the server after the handshake is a failure of TLS', async () => {
  // With TLS 1.3 a server refuses a client certificate, or what else it got last, when the client takes the connection for made.
  const server = createServer({ cert: pem('trusted'), key: pem('trusted-key'), minVersion: 'TLSv1.3' });
  await listening(server.listen(0, '127.0.0.1'));
  const between = createSocketServer((client) => {
    const behind = connect(portOf(server), '127.0.0.1');
    behind.pipe(client);
    let chunks = 0;
    client.on('data', (chunk) => {
      chunks += 1;
      // All but the first message are damaged.
      if (chunks > 1) chunk.writeUInt8(chunk.readUInt8(chunk.length - 1) ^ 1, chunk.length - 1);
      behind.write(chunk);
    });
    for (const socket of [client, behind]) socket.on('error', () => undefined);
  });
  await listening(between.listen(0, '127.0.0.1'));
  const delivery = undiciDelivery({ ca: testAuthority, allow: { hosts: ['localhost'] } });
  const refused = await delivery.send({
    ...{ method: 'POST', url: `https://localhost:${portOf(between)}/`, headers: {}, body: '{}' },
    ...{ connectTimeout: 10_000, totalTimeout: 20_000, maximumResponseBytes: 10 },
  });
  expect(refused._unsafeUnwrapErr()).toMatchObject({
    type: 'tls_failed',
    // Releases of Node spell the name of the alert in two ways.
    message: expect.stringMatching(/: the TLS handshake failed \(ERR_SSL_(?:SSLV3|SSL\/TLS)_ALERT_BAD_RECORD_MAC\)$/),
  });
  await delivery.close();
  between.close();
  server.close();
});

async function listening(server: Server): Promise<void> {
  await once(server, 'listening');
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

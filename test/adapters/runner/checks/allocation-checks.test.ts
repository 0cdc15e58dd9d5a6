import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { runCheck } from '../../../../adapters/runner/checks/allocation-checks.js';
import type { ServiceCheck } from '../../../../src/jobs/document/service.js';
import { canonicalJob } from '../../../jobs/canonical-job.js';

const second = 1_000_000_000;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** The result of a check of a server with this answer. */
async function lookAt(status: number, body: string | Buffer, check: Partial<ServiceCheck> = {}) {
  const started = createServer((_request, response) => response.writeHead(status).end(body));
  server = started;
  await new Promise<void>((resolve) => {
    started.listen(0, '127.0.0.1', resolve);
  });
  const { port } = started.address() as AddressInfo;
  return runCheck({ ...checkOf(), ...check }, { address: '127.0.0.1', port });
}

function checkOf(): ServiceCheck {
  const Checks = [{ Type: 'http', Path: '/health', Interval: second, Timeout: 5 * second }];
  const job = canonicalJob({ ID: 'web', TaskGroups: [{ Name: 'g', Services: [{ PortLabel: 'p', Checks }] }] });
  return job.TaskGroups[0]!.Services![0]!.Checks![0]!;
}

describe('a check of a service', () => {
  it.each([
    [200, true],
    [399, true],
    [400, false],
    [503, false],
  ])('by HTTP with the status %i passes: %s', async (statusCode, passed) => {
    expect(await lookAt(statusCode, 'well')).toEqual({ passed, statusCode, output: 'well' });
  });

  it('is made as its type says, in any case of letters', async () => {
    expect(await lookAt(503, 'ill', { Type: 'HTTP' })).toMatchObject({ passed: false, statusCode: 503 });
    server?.close();
    expect(await lookAt(503, 'ill', { Type: 'TCP' })).toMatchObject({ passed: true, statusCode: 0 });
  });

  it('keeps the first 3 KiB of the answer', async () => {
    expect((await lookAt(200, 'x'.repeat(3072))).output).toHaveLength(3072);
    server?.close();
    expect((await lookAt(200, 'x'.repeat(5000))).output).toHaveLength(3072);
  });

  it('counts bytes, and does not cut a character', async () => {
    expect((await lookAt(200, '€'.repeat(1024))).output).toBe('€'.repeat(1024));
    server?.close();
    expect((await lookAt(200, 'é'.repeat(5000))).output).toBe('é'.repeat(1536));
    server?.close();
    expect((await lookAt(200, `x${'€'.repeat(5000)}`)).output).toBe(`x${'€'.repeat(1023)}`);
    server?.close();
    expect((await lookAt(200, `${'😀'.repeat(5000)}`)).output).toBe('😀'.repeat(768));
    server?.close();
    expect((await lookAt(200, Buffer.alloc(5000, 0xff))).output).toBe('\ufffd'.repeat(1024));
  });

  it.each([
    [
      'a change of the protocol',
      'GET',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n',
    ],
    ['the consent to a tunnel', 'CONNECT', 'HTTP/1.1 200 OK\r\n\r\n'],
  ])('that is answered with %s fails', async (_answer, Method, head) => {
    const odd = createSocketServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(head));
    });
    await new Promise<void>((resolve) => {
      odd.listen(0, '127.0.0.1', resolve);
    });
    const { port } = odd.address() as AddressInfo;
    const result = await runCheck({ ...checkOf(), Method }, { address: '127.0.0.1', port });
    expect(result).toMatchObject({ passed: false, statusCode: 0 });
    await new Promise((resolve) => odd.close(resolve));
  });
});

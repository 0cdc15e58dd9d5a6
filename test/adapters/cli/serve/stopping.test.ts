import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Child, endAll, signalbox } from '../cli-process.js';

/*
 * How a server ends: real processes, real signals. Readers wait for minutes and a receiver may take minutes to answer, so a
 * server that waited for one of them would not end within the limit, which leaves room for a machine with other work.
 */

const limit = 4000;
let directory: string;
let receiver: Server;
/** Whether the receiver answers; otherwise it keeps what it gets. */
let answering = true;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-stop-'));
  receiver = createServer((request, response) => {
    request.resume();
    if (answering) response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterEach(endAll);
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await rm(directory, { recursive: true, force: true });
});

const serveArguments = ['serve', '--listen', '127.0.0.1:0', '--access', 'open', '--no-runner'];

/** A reader that asks again over the same connection as soon as it has its answer; resolves with what it got until its end. */
function poll(port: number, asked: () => void): Promise<string> {
  return new Promise((resolve) => {
    const ask = 'GET /v1/jobs?index=1000000&wait=5m HTTP/1.1\r\nHost: localhost\r\n\r\n';
    let got = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(ask, asked));
    socket.setEncoding('latin1').on('data', (text: string) => {
      got += text;
      if (socket.writable) socket.write(ask);
    });
    socket.on('error', () => undefined).on('close', () => resolve(got));
  });
}

/** The status of each answer, with a mark on those that say that the connection ends. */
function answersIn(text: string): string {
  const heads = text.matchAll(/^HTTP\/1\.1 (\d{3})(?:.|\r\n(?!\r\n))*/gm);
  return [...heads]
    .map(([head, status]) => `${status}${/^connection: close/im.test(head) ? ' and closed' : ''}`)
    .join();
}

/** Receivers may take ten minutes to answer. */
const patient = ['verification', 'delivery'].flatMap((what) => ['--set', `notifications.${what}.totalTimeout=10m`]);

const type = { 'content-type': 'application/vnd.api+json' };

/** A server with a workspace, and a request that makes a configuration, which verifies its destination first. */
async function withWorkspace(): Promise<{
  readonly child: Child;
  readonly origin: string;
  readonly configure: () => Promise<Response>;
}> {
  const seed = join(directory, 'seed.json');
  await writeFile(seed, JSON.stringify({ workspaces: [{ id: 'ws-1', name: 'main', organization: 'org' }] }));
  const child = signalbox([...serveArguments, '--seed', seed, '--allow-outbound', '127.0.0.0/8', ...patient]);
  const origin = await child.origin();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const attributes = { 'destination-type': 'generic', name: 'h', url, enabled: true, triggers: ['run:errored'] };
  const body = JSON.stringify({ data: { type: 'notification-configurations', attributes } });
  const path = '/workspaces/ws-1/notification-configurations';
  return { child, origin, configure: () => fetch(origin + path, { method: 'POST', headers: type, body }) };
}

async function timeToEnd(child: Child): Promise<number> {
  const from = performance.now();
  child.process.kill('SIGTERM');
  expect(await child.ended).toEqual({ code: 0, signal: null });
  return performance.now() - from;
}

/** The processor time until the end in milliseconds, as the last of the samples tells; 0 where the system does not tell it. */
function processorTimeToEnd(child: Child): () => number {
  const before = processorTime(child);
  let last = before;
  const sampling = setInterval(() => {
    last = Math.max(last, processorTime(child));
  }, 2);
  void child.ended.then(() => clearInterval(sampling));
  return () => last - before;
}

/** Linux counts user and system time in ticks of 10 ms. The name of the program, in parentheses, may have spaces. */
function processorTime({ process: { pid } }: Child): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(') ')).split(' ').slice(12, 14).map(Number);
    return (user + system) * 10;
  } catch {
    return 0;
  }
}

describe('a server that receives a signal', () => {
  it('does not wait for a thousand readers that wait and ask again', async () => {
    const child = signalbox(serveArguments);
    const port = Number(new URL(await child.origin()).port);
    let asking = 0;
    const readers = Array.from({ length: 1000 }, () =>
      poll(port, () => {
        asking += 1;
      }),
    );
    await expect.poll(() => asking).toBe(1000);
    // Connections are taken in turn: when a later one has been answered twice, all these requests have been read.
    for (let i = 0; i < 2; i++) await (await fetch(`http://127.0.0.1:${port}/health`)).text();
    const used = processorTimeToEnd(child);
    expect(await timeToEnd(child)).toBeLessThan(limit);
    // The promise is a second, which a machine with other work stretches.
    expect(used()).toBeLessThan(1000);
    // One answer each: no connection was cut at the end of the grace time, and no reader could wait again.
    const answers = new Set((await Promise.all(readers)).map(answersIn));
    expect([...answers]).toEqual(['200 and closed']);
  });

  it('does not wait for readers and a receiver that does not answer', async () => {
    const { child, origin, configure } = await withWorkspace();
    answering = false;
    const asked = new Promise((resolve) => receiver.once('request', resolve));
    const configured = configure().catch(() => undefined);
    await asked;
    let asking = 0;
    const readers = Array.from({ length: 100 }, () =>
      poll(Number(new URL(origin).port), () => {
        asking += 1;
      }),
    );
    await expect.poll(() => asking).toBe(100);
    await (await fetch(`${origin}/health`)).text();
    expect(await timeToEnd(child)).toBeLessThan(limit);
    expect([...new Set((await Promise.all(readers)).map(answersIn))]).toEqual(['200 and closed']);
    await configured;
  });

  it('does not wait for a receiver that does not answer a verification', async () => {
    const { child, configure } = await withWorkspace();
    answering = false;
    const asked = new Promise((resolve) => receiver.once('request', resolve));
    const configured = configure().catch(() => undefined);
    await asked;
    expect(await timeToEnd(child)).toBeLessThan(limit);
    await configured;
  });

  it('does not wait for a receiver that does not answer a notification', async () => {
    const { child, origin, configure } = await withWorkspace();
    answering = true;
    expect((await configure()).status).toBe(201);
    answering = false;
    const asked = new Promise((resolve) => receiver.once('request', resolve));
    const event = { type: 'notification-events', attributes: { trigger: 'run:errored', run_id: 'run-1' } };
    const body = JSON.stringify({ data: event });
    const path = '/workspaces/ws-1/notification-events';
    expect((await fetch(origin + path, { method: 'POST', headers: type, body })).status).toBe(202);
    await asked;
    expect(await timeToEnd(child)).toBeLessThan(limit);
  });

  it.each([
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
    ['SIGTERM', 'SIGTERM'],
    ['SIGINT', 'SIGINT'],
  ] as const)('ends at once at a second signal: %s, then %s', async (first, second) => {
    const child = signalbox(serveArguments);
    const port = Number(new URL(await child.origin()).port);
    // A request whose body does not come keeps the server until its grace is over.
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    child.process.kill(first);
    // It has taken the first one when it takes no more connections.
    await expect.poll(() => refuses(port), { interval: 5 }).toBe(true);
    child.process.kill(second);
    expect(await child.ended).toEqual({ code: null, signal: second });
    socket.destroy();
  });
});

function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .on('error', () => resolve(true))
      .on('connect', () => {
        socket.destroy();
        resolve(false);
      });
  });
}

import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { okAsync } from 'neverthrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createHttpHandler, nodeListener, upgradeListener } from '../../adapters/compat/index.js';
import type { CommandOutput, CommandPerformer } from '../../src/agent/link/node-command.js';
import { type Engine, hostPrincipal } from '../../src/index.js';
import { putToken } from '../../src/operations/access/tokens/put-token.js';
import { unlessAborted } from '../../src/operations/node-commands/remote-performer.js';
import { filledEngine } from '../adapters/http-server/engine-under-test.js';
import { pathValues } from '../adapters/http-server/route-samples.js';
import { collectGarbage } from '../support/collect-garbage.js';

/*
 * Clients that go away in the middle of calls that can last for days: nothing of such a call may stay in the memory of the server. Each
 * kind of call is begun and abandoned many times over real connections, and the heap is compared. `SIGNALBOX_ABANDONED=20000` abandons
 * more of each kind, so that less for each is noticed.
 */
const rounds = Number(process.env['SIGNALBOX_ABANDONED'] ?? 200);
/** Calls that are under way at a time. */
const atOnce = 10;
/** Bytes by which two readings of the heap at rest may differ by chance. A command that is kept holds four thousand. */
const NOISE = 700_000;

/** A node whose commands give one piece, and take input, until they are ended. */
const quietNode: CommandPerformer = ({ type }, _input, signal) =>
  okAsync(
    (async function* (): AsyncGenerator<CommandOutput> {
      if (type === 'exec') yield { type: 'data', stream: 'stdout', bytes: Uint8Array.of(10) };
      else yield { type: 'piece', file: 'x', offset: 1, bytes: Uint8Array.of(10) };
      await unlessAborted(new Promise(() => undefined), signal);
    })(),
  );

let engine: Engine;
let port = 0;
let token = '';
const server = createServer();

beforeAll(async () => {
  engine = await filledEngine();
  engine.agents.attach(pathValues['node_id'] ?? '', quietNode);
  token = (await putToken(engine, hostPrincipal, { name: 'm', management: true }))._unsafeUnwrap().secret;
  const handler = createHttpHandler(engine, { access: 'token', names: 'upstream' });
  server.on('request', nodeListener(handler)).on('upgrade', upgradeListener(handler));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

interface Asked {
  readonly method?: string;
  readonly body?: string;
  /** Leaves before the answer begins, this many milliseconds after the request; after its first bytes when absent. */
  readonly after?: number;
}

/** Asks, and cuts the connection. */
function abandon(path: string, { method = 'GET', body, after }: Asked = {}): Promise<void> {
  return new Promise((resolve) => {
    const headers = { 'x-nomad-token': token, ...(body === undefined ? {} : { 'content-length': body.length + 10 }) };
    const asked = request({ port, host: '127.0.0.1', path, method, agent: false, headers });
    const leave = (): void => void asked.destroy();
    asked.on('error', () => undefined).on('close', () => resolve());
    asked.on('response', (response) => response.on('error', () => undefined).once('data', leave));
    if (body === undefined) asked.end();
    else asked.write(body);
    if (after !== undefined) setTimeout(leave, after);
  });
}

/** Opens a socket, sends, and cuts the connection when something has come. */
function abandonSocket(path: string, message: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { 'x-nomad-token': token } });
    socket.on('open', () => socket.send(message));
    socket.on('message', () => socket.terminate());
    socket.on('unexpected-response', (_request, { statusCode }) => reject(new Error(`answered ${statusCode}`)));
    socket.on('error', () => undefined).on('close', () => resolve());
  });
}

const allocation = () => pathValues['allocation_id'] ?? '';
const stdin = JSON.stringify({ stdin: { data: 'YQ==' } });

const kinds: Readonly<Record<string, (round: number) => Promise<void>>> = {
  'a blocking read': () => abandon('/v1/jobs?index=100000&wait=60s', { after: 5 }),
  'a filtered blocking read': (round) =>
    abandon(`/v1/jobs?index=100000&filter=${encodeURIComponent(`ID == "j${round}"`)}`, { after: 5 }),
  'an event stream': () => abandon('/v1/event/stream'),
  'a followed log': () => abandon(`/v1/client/fs/logs/${allocation()}?task=t&type=stdout&follow=true`),
  'a followed log without frames': () =>
    abandon(`/v1/client/fs/logs/${allocation()}?task=t&type=stdout&follow=true&plain=true`),
  'a followed file': () => abandon(`/v1/client/fs/stream/${allocation()}?path=x`),
  'the monitor': () => abandon('/v1/agent/monitor'),
  'a command': () => abandonSocket(`/v1/client/allocation/${allocation()}/exec?task=t&command=["sh"]`, stdin),
  'a body that stops': () => abandon('/v1/jobs', { method: 'PUT', body: '{"Job":{"ID":"x",', after: 5 }),
  'an unknown token': (round) => abandon(`/v1/jobs?region=global&token=${round}`, {}),
};

async function all(call: (round: number) => Promise<void>, from: number, count: number): Promise<void> {
  for (let round = from; round < from + count; round += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, (_, at) => call(round + at)));
  }
}

/** Bytes in use when the ends of all connections have been seen. */
async function heapAtRest(): Promise<number> {
  await expect.poll(() => new Promise((resolve) => server.getConnections((_error, count) => resolve(count)))).toBe(0);
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
}

describe('nothing stays in the memory of', () => {
  it.each(Object.keys(kinds))(
    '%s that its client abandons',
    async (kind) => {
      const call = kinds[kind] as (round: number) => Promise<void>;
      // What is compiled and cached once is not what is looked for.
      await all(call, 0, rounds);
      const before = await heapAtRest();
      await all(call, rounds, rounds);
      const kept = (await heapAtRest()) - before;
      if (process.env['SIGNALBOX_ABANDONED'] !== undefined) {
        console.log(`${kind}: ${Math.round(kept / rounds)} bytes a call`);
      }
      expect(kept).toBeLessThan(NOISE);
      expect(engine.parked.size).toBe(0);
    },
    60_000 + 50 * rounds,
  );
});

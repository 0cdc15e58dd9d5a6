import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Child, endAll, start, temporaryFolder } from '../adapters/cli/cli-process.js';
import { commandLineProgram } from '../support/command-line.js';
import { eventually } from '../support/installation.js';
import { patience } from '../support/patience.js';

/*
 * Callers without any right flood a server over loopback: with waiting reads, bodies, upgrades, connections, and with answers that they
 * never read. Meanwhile a management token is served. `SIGNALBOX_FLOODS=4` makes each flood four times as large, and prints figures.
 */
const asked = process.env['SIGNALBOX_FLOODS'];
const size = Number(asked ?? 1);

const manager = 'token-of-the-manager';
const powerless = 'token-without-any-right';
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  agent.destroy();
  endAll();
});

interface Flooded {
  readonly child: Child;
  readonly port: number;
  readonly pid: number;
}

/** A server with a store in a file. `descriptors`: how many files it may open. */
async function serve(options: readonly string[], descriptors = 8192): Promise<Flooded> {
  const folder = temporaryFolder();
  const seed = join(folder, 'seed.json');
  const tokens = [
    { secret: manager, name: 'manager', management: true },
    { secret: powerless, name: 'powerless' },
    {
      secret: 'token-of-a-reader',
      name: 'reader',
      namespaces: { default: { capabilities: ['list-jobs', 'read-job'] } },
    },
  ];
  writeFileSync(seed, JSON.stringify({ tokens, namespaces: [{ name: 'other' }] }));
  const own = ['serve', '--listen', '127.0.0.1:0', '--store', `sqlite:${join(folder, 'store.db')}`, '--seed', seed];
  const shell = `ulimit -n ${descriptors}; exec "$@"`;
  const child = start('/bin/sh', ['-c', shell, 'sh', process.execPath, commandLineProgram(), ...own, ...options]);
  return { child, port: Number(new URL(await child.origin()).port), pid: child.process.pid as number };
}

const agent = new Agent({ keepAlive: true, maxSockets: 4 });

interface Reply {
  readonly status: number;
  readonly body: string;
  /** Milliseconds. */
  readonly took: number;
}

function ask(port: number, method: string, path: string, body?: unknown): Promise<Reply> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { 'x-nomad-token': manager };
    const asking = request({ port, host: '127.0.0.1', method, path, headers, agent }, (response) => {
      let received = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: received, took: performance.now() - began }),
      );
    });
    asking.on('error', reject);
    asking.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const job = (id: string, further: object = {}, group: object = {}) => ({
  Job: {
    ID: id,
    Type: 'batch',
    Datacenters: ['*'],
    TaskGroups: [
      {
        Name: 'g',
        ...group,
        EphemeralDisk: { SizeMB: 10 },
        Tasks: [
          {
            Name: 't',
            Driver: 'raw_exec',
            Config: { command: '/bin/true' },
            Resources: { CPU: 1, MemoryMB: 10 },
            LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 },
          },
        ],
      },
    ],
    ...further,
  },
});

/** A bare connection that sends this once it is open, when it is. Nothing is read from it unless `resume` is called. */
async function open(port: number, message: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  socket.write(message);
  return socket;
}

const get = (path: string, token = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${token === '' ? '' : `X-Nomad-Token: ${token}\r\n`}\r\n`;

/** Milliseconds that writes take, one after the other, in order. */
async function writes({ port }: Flooded, count: number, namespace = 'default'): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const { status, took } = await ask(
      port,
      'PUT',
      `/v1/jobs?namespace=${namespace}`,
      job(`w${n % 10}`, { Priority: 1 + (n % 90), Namespace: namespace }),
    );
    expect(status).toBe(200);
    times.push(took);
  }
  return times.toSorted((left, right) => left - right);
}

async function waiting({ port }: Flooded): Promise<number> {
  const { body } = await ask(port, 'GET', '/v1/metrics?format=prometheus');
  return Number(/^signalbox_queries_waiting(?:\{.*\})? (\d+)/m.exec(body)?.[1]);
}

const median = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;

function filesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function megabytesOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function report(figures: Readonly<Record<string, unknown>>): void {
  if (asked !== undefined) console.info(figures);
}

describe.skipIf(process.platform !== 'linux')('a server', () => {
  test('writes as fast with a thousand readers that wait and have no token', { timeout: 300_000 }, async () => {
    // One address without a token may have a sixteenth.
    const server = await serve(['--no-runner', '--set', `maximumWaitingReads=${16_384 * size}`]);
    const scaled = { Count: 0, Scaling: { Min: 0, Max: 3, Enabled: true } };
    for (let n = 0; n < 300; n += 1)
      await ask(server.port, 'PUT', '/v1/jobs', job(`stored-${n}`, { Type: 'service' }, scaled));
    const alone = await writes(server, 20);
    const paths = ['scaling/policies', 'namespaces', 'node/pools', 'services', 'acl/policies'];
    for (let n = 0; n < 1000 * size; n += 1) {
      const path = n % 2 === 0 ? paths[0] : paths[n % paths.length];
      await open(server.port, get(`/v1/${path}?namespace=*&prefix=p${n}&index=999999999&wait=10m`));
    }
    expect(await eventually(patience, async () => (await waiting(server)) === 1000 * size)).toBe(true);
    const flooded = await writes(server, 20);
    report({ alone: median(alone), flooded: median(flooded), slowest: flooded.slice(-5) });
    expect(median(flooded)).toBeLessThan(5 * median(alone) + 50);
    expect(flooded.at(-1)).toBeLessThan(10 * (alone.at(-1) ?? 0) + 250);
  });

  test('writes in time while hundreds of readers have a right to what is written', { timeout: 300_000 }, async () => {
    const server = await serve(['--no-runner']);
    for (let n = 0; n < 300; n += 1) await ask(server.port, 'PUT', '/v1/jobs', job(`stored-${n}`));
    const alone = await writes(server, 20);
    const filter = (n: number): string => encodeURIComponent(`Priority == 200 or ID == "${n}"`);
    for (let n = 0; n < 300 * size; n += 1)
      await open(server.port, get(`/v1/jobs?filter=${filter(n)}&index=999999999&wait=10m`, 'token-of-a-reader'));
    // The first run of each is the reader's own work.
    expect(await eventually(patience, async () => (await waiting(server)) === 300 * size)).toBe(true);
    const elsewhere = await writes(server, 20, 'other');
    const flooded = await writes(server, 20);
    report({ alone: median(alone), elsewhere: median(elsewhere), flooded: median(flooded), slowest: flooded.at(-1) });
    expect(median(elsewhere)).toBeLessThan(5 * median(alone) + 50);
    expect(median(flooded)).toBeLessThan(10 * median(alone) + 100);
  });

  test('accepts writes of management while a token without any right sends bodies', { timeout: 300_000 }, async () => {
    const server = await serve(['--no-runner']);
    const length = 4 * 1024 * 1024;
    const head = `POST /v1/search/fuzzy HTTP/1.1\r\nHost: localhost\r\nX-Nomad-Token: ${powerless}\r\nContent-Length: ${length}\r\n\r\n`;
    const statuses: number[] = [];
    for (let n = 0; n < 17 * size; n += 1) {
      const socket = await open(server.port, head);
      socket.write(Buffer.alloc(length - 1, ' '));
      // What it is answered does not matter.
      socket.resume();
      if (n % 17 === 16)
        for (let written = 0; written < 45; written += 1)
          statuses.push((await ask(server.port, 'PUT', '/v1/jobs', job(`w${written}`))).status);
    }
    report({ served: statuses.filter((status) => status === 200).length, of: statuses.length });
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('opens sockets for management while refused ones come in their hundreds', { timeout: 300_000 }, async () => {
    const server = await serve(['--no-runner']);
    const before = filesOf(server.pid);
    const path = '/v1/client/allocation/00000000-0000-4000-8000-000000000000/exec?task=t&command=%5B%22sh%22%5D';
    const upgrade = async (token: string): Promise<string> => {
      const further = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
      const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
      const lines = [`GET ${path} HTTP/1.1`, 'Host: localhost', `X-Nomad-Token: ${token}`, ...further, key, '', ''];
      const socket = await open(server.port, lines.join('\r\n'));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return answer.toString('latin1').slice(9, 12);
    };
    const statuses: string[] = [];
    for (let n = 0; n < 1300 * size; n += 50) {
      await Promise.all(Array.from({ length: 50 }, () => upgrade('nobody-has-this-one')));
      statuses.push(await upgrade(manager));
    }
    report({
      opened: statuses.filter((status) => status === '101').length,
      of: statuses.length,
      files: filesOf(server.pid) - before,
    });
    expect(new Set(statuses)).toEqual(new Set(['101']));
    expect(filesOf(server.pid) - before).toBeLessThan(200);
  });

  test('answers, and starts tasks, while connections take all that it gives', { timeout: 300_000 }, async () => {
    const server = await serve([], 640);
    const before = filesOf(server.pid);
    for (let n = 0; n < 1000 * size; n += 1) await open(server.port, n % 2 === 0 ? '' : 'GET /v1/jobs HTT');
    const taken = filesOf(server.pid) - before;
    report({ taken });
    expect(taken).toBeLessThanOrEqual(400);
    expect((await ask(server.port, 'PUT', '/v1/jobs', job('runs'))).status).toBe(200);
    const status = async (): Promise<readonly string[]> => {
      const { body } = await ask(server.port, 'GET', '/v1/job/runs/allocations');
      return (JSON.parse(body) as { readonly ClientStatus: string }[]).map(({ ClientStatus }) => ClientStatus);
    };
    expect(await eventually(patience, async () => (await status()).includes('complete'))).toBe(true);
  });

  test('lets go of answers that nobody reads', { timeout: 300_000 }, async () => {
    const server = await serve(['--no-runner', '--set', 'stallTimeout=2s']);
    // A list of 12 MB that is answered as a whole: more than the operating system takes for a client that reads nothing.
    const Meta = { value: 'x'.repeat(100_000) };
    for (let n = 0; n < 120; n += 1)
      expect((await ask(server.port, 'PUT', '/v1/jobs', job(`large-${n}`, { Meta }))).status).toBe(200);
    for (let n = 0; n < 5; n += 1) await ask(server.port, 'GET', '/v1/jobs?meta=true');
    const [files, before] = [filesOf(server.pid), megabytesOf(server.pid)];
    const count = 40 * size;
    /** The most memory during a flood, once the server has let go of its connections. */
    const flood = async (): Promise<number> => {
      let peak = 0;
      for (let n = 0; n < count; n += 1) {
        const socket = await open(server.port, get('/v1/jobs?meta=true', manager));
        socket.pause();
        peak = Math.max(peak, megabytesOf(server.pid));
      }
      const until = (reached: () => boolean): Promise<boolean> =>
        eventually(patience, () => {
          peak = Math.max(peak, megabytesOf(server.pid));
          return reached();
        });
      expect(await until(() => filesOf(server.pid) >= files + count - 4)).toBe(true);
      expect(await until(() => filesOf(server.pid) <= files + 4)).toBe(true);
      // Some work, so that memory that is free is found.
      for (let n = 0; n < 5; n += 1) await ask(server.port, 'GET', '/v1/jobs?meta=true');
      return peak;
    };
    const earlier = Math.max(await flood(), await flood());
    // Not every Node collects garbage and gives memory back at once, but what a flood held serves the next ones.
    const later = Math.max(await flood(), await flood());
    report({ before, earlier, later, after: megabytesOf(server.pid) });
    expect(later).toBeLessThan(earlier + 12 * count);
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, expect, test } from 'vitest';
import { recordingDelivery } from '../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../adapters/node/index.js';
import { sqliteStorage } from '../../adapters/sqlite/index.js';
import { createEngine, hostPrincipal, orThrow } from '../../src/index.js';
import { putWorkspace } from '../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { messageIdentity, once, seenInMemory } from '../../src/receiver.js';

/*
 * Two processes on one SQLite file publish and deliver, and are killed again and again, at any moment. What was acknowledged arrives;
 * of each run what arrives first is in order; the receiver module knows every repetition as one. `SIGNALBOX_DELIVERY_KILLS=1000` for the
 * long run, whose figures it prints.
 */
const asked = process.env['SIGNALBOX_DELIVERY_KILLS'];
const kills = Number(asked ?? 8);

const root = fileURLToPath(new URL('../..', import.meta.url));
const children = new Set<ChildProcess>();
let receiver: Receiver | undefined;
let folder = '';
let program = '';

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  receiver?.server.close();
  receiver?.server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

test(`${kills} kills in two processes lose nothing and keep the order of runs`, {
  timeout: 180_000 + kills * 10_000,
}, async () => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-kills-'));
  program = join(folder, 'child.mjs');
  // What stays outside of the bundle is found beside it.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await build({
    entryPoints: [join(root, 'test/campaigns/delivery-child.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  receiver = await startReceiver();
  const file = join(folder, 'kills.sqlite');
  await prepare(file, receiver.url);
  const acknowledged = new Set<string>();
  let lives = 0;
  const slot = async (): Promise<void> => {
    while (lives < kills) {
      lives += 1;
      const child = start(file, `life${lives}`, 'publish', acknowledged);
      await child.ready;
      await pause(lives % 5 === 0 ? 1500 : 50 + Math.random() * 700);
      await child.kill();
    }
  };
  await Promise.all([slot(), slot()]);
  const last = start(file, 'last', 'deliver', acknowledged);
  await last.ready;
  const waiting = (): string[] => [...acknowledged].filter((message) => !receiver?.worked.has(message));
  await expect.poll(() => waiting().slice(0, 5), { timeout: 120_000, interval: 200 }).toEqual([]);
  await last.kill();
  const { worked, requests, repeated } = receiver;
  if (asked !== undefined) {
    const lost = waiting().length;
    console.info({ kills, acknowledged: acknowledged.size, worked: worked.size, requests, repeated, lost });
  }
  expect(receiver.faults).toEqual([]);
  expect(acknowledged.size).toBeGreaterThan(kills);
});

async function prepare(file: string, url: string): Promise<void> {
  const storage = orThrow(await sqliteStorage(file));
  const clock = systemClock();
  const engine = createEngine({ storage, clock, ids: randomIds(), delivery: recordingDelivery({ clock }) });
  await orThrow(putWorkspace(engine, hostPrincipal, { id: 'ws', name: 'ws', organization: 'o' }));
  const box = engine.as(hostPrincipal);
  const attributes = {
    destinationType: 'generic',
    enabled: true,
    name: 'all',
    url,
    triggers: ['run:created'],
  } as const;
  await orThrow(box.notifications.create('ws', attributes));
  await storage.close();
}

function start(file: string, name: string, mode: 'publish' | 'deliver', acknowledged: Set<string>) {
  const child = spawn(process.execPath, [program, file, name, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve();
      else if (line.startsWith('ack ')) acknowledged.add(line.slice(4));
    });
    void ended.then(() => reject(new Error(`${name} ended`)));
  });
  return {
    ready,
    kill: async (): Promise<void> => {
      child.kill('SIGKILL');
      await ended;
      children.delete(child);
    },
  };
}

interface Receiver {
  readonly server: Server;
  readonly url: string;
  /** `RUN NUMBER` of what was worked on. */
  readonly worked: Set<string>;
  readonly faults: string[];
  requests: number;
  repeated: number;
}

/** Works on each message once, as the receiver module tells it to, and looks at what comes. */
async function startReceiver(): Promise<Receiver> {
  const store = seenInMemory({ most: 1_000_000 });
  const lastOf = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const payload = JSON.parse(Buffer.concat(chunks).toString()) as { run_id: string | null; run_message: string };
      const id = messageIdentity(request.headers)._unsafeUnwrap().id;
      void once({ store, id }, () => {
        if (payload.run_id !== null) work(payload.run_id, Number(payload.run_message));
      }).then((outcome) => {
        found.requests += 1;
        if (outcome.type === 'repeated') found.repeated += 1;
        response.writeHead(outcome.type === 'busy' ? 503 : 204).end();
      });
    });
  });
  const work = (run: string, number: number): void => {
    const message = `${run} ${number}`;
    const before = lastOf.get(run) ?? 0;
    if (found.worked.has(message)) found.faults.push(`${message} was worked on twice`);
    if (number !== before + 1) found.faults.push(`${message} came after ${before}`);
    lastOf.set(run, Math.max(before, number));
    found.worked.add(message);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const found: Receiver = { server, url, worked: new Set(), faults: [], requests: 0, repeated: 0 };
  return found;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

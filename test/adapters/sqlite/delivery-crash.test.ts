import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqliteStorage } from '../../../adapters/sqlite/sqlite-storage.js';
import { deliveries } from '../../../src/notifications/delivery/delivery.js';
import { queues } from '../../../src/notifications/queue/queue-record.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { scratchFolder } from './sqlite-files.js';

/** `SIGNALBOX_CRASH_KILLS=500` for a longer run. */
const killsPerLane = Math.ceil(Number(process.env.SIGNALBOX_CRASH_KILLS ?? 100) / 2);
const eventsPerLife = 40;
/** Attempts of one life whose outcome may not be stored yet: under way, and ended while the store was writing. */
const openAttempts = 2 * 8;

const folder = scratchFolder();
const program = folder.path('delivery-crash-sender.mjs');

beforeAll(() => {
  buildSync({
    entryPoints: [join(import.meta.dirname, 'delivery-crash-sender.ts')],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  symlinkSync(join(process.cwd(), 'node_modules'), folder.path('node_modules'));
}, 60_000);
afterAll(() => folder.remove());

const limit = 100_000 + killsPerLane * 2000;

test('no accepted event is lost by kills, and only attempts that were under way are repeated', {
  timeout: limit,
}, async () => {
  const lanes = await Promise.all(['a', 'b'].map((lane) => killAgainAndAgain(folder.path(`${lane}.db`), lane)));
  for (const { accepted, received, repeated } of lanes) {
    // Not every kill hits a busy sender, but many must, or this test proves nothing.
    expect(accepted).toBeGreaterThan(killsPerLane * 5);
    expect(received).toBeGreaterThanOrEqual(accepted);
    expect(repeated).toBeLessThanOrEqual(killsPerLane * openAttempts);
  }
});

async function killAgainAndAgain(file: string, lane: string) {
  const receiver = await startReceiver();
  const accepted = new Set<string>();
  for (let life = 0; life < killsPerLane; life++) {
    // Killed at another moment each time: after some events, and a little later.
    const sender = startSender(file, receiver, `${lane}${life}`, eventsPerLife, accepted, 1 + ((life * 7) % 12));
    await sender.busy;
    await new Promise((resolve) => setTimeout(resolve, life % 5));
    sender.process.kill('SIGKILL');
    await once(sender.process, 'exit');
  }
  const last = startSender(file, receiver, 'end', 0, accepted, 0);
  const [code] = await once(last.process, 'exit');
  expect(code).toBe(0);

  const bodies = new Map<string, Set<string>>();
  let received = 0;
  let repeated = 0;
  for (const request of receiver.requests) {
    const run: string | null = JSON.parse(request.body).run_id;
    if (run === null) continue;
    const seen = bodies.get(run);
    if (seen === undefined) received += 1;
    else repeated += 1;
    bodies.set(run, (seen ?? new Set()).add(request.body));
  }
  await receiver.close();
  for (const run of accepted) expect(bodies.has(run), `${run} was accepted and never delivered`).toBe(true);
  for (const variants of bodies.values()) expect(variants.size).toBe(1);
  await assertAllDelivered(file, bodies.size);
  return { accepted: accepted.size, received, repeated };
}

async function assertAllDelivered(file: string, events: number): Promise<void> {
  const storage = (await sqliteStorage(file))._unsafeUnwrap();
  const found = (
    await storage.read((view) => ({
      states: view.list(deliveries).map((row) => row.record.state.type),
      left: view.list(queues, { index: 'by_wake' }).length,
    }))
  )._unsafeUnwrap();
  await storage.close();
  expect(found.states).toEqual(Array.from({ length: events }, () => 'delivered'));
  expect(found.left).toBe(0);
}

interface Sender {
  readonly process: ChildProcess;
  /** Resolves when so many events were accepted. */
  readonly busy: Promise<void>;
}

function startSender(
  file: string,
  receiver: Receiver,
  name: string,
  events: number,
  accepted: Set<string>,
  enough: number,
): Sender {
  const child = spawn(process.execPath, [program, file, `${receiver.url}/hook`, name, String(events)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let rest = '';
  let count = 0;
  const busy = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) accepted.add(line);
      count += lines.length;
      if (count >= enough) resolve();
    });
    child.once('exit', (code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the sender ended by itself with ${code}`));
    });
  });
  busy.catch(() => undefined);
  return { process: child, busy };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandler, requestFrom } from '../../adapters/compat/index.js';
import { recordingDelivery } from '../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../adapters/node/index.js';
import { sqliteStorage } from '../../adapters/sqlite/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../src/index.js';
import { registerJob } from '../../src/operations/jobs/registration/register-job.js';
import { createNotificationConfiguration } from '../../src/operations/notifications/configurations/create-notification-configuration.js';
import { sendNotificationEvent } from '../../src/operations/notifications/events/send-notification-event.js';
import { putWorkspace } from '../../src/operations/notifications/workspaces/workspaces-and-users.js';
import type { Storage } from '../../src/ports/index.js';
import { runEvent } from '../operations/notifications/engine-setup.js';
import { groupDocument } from '../support/jobs.js';
import { threadTime } from './hcl-cost/measure.js';

/*
 * How long calls over many rows keep the event loop from other callers. `SIGNALBOX_BLOCK_ROWS=20000` for more rows: the longest block must
 * not grow with them.
 */
const rows = Number(process.env['SIGNALBOX_BLOCK_ROWS'] ?? 3000);
/** Milliseconds of the thread's processor time between two turns. The aim is 10; collections of garbage come on top. */
const BOUND = 30;

const folder = mkdtempSync(join(tmpdir(), 'signalbox-block-'));
let storage: Storage;
let engine: Engine;
let handler: HttpHandler;
beforeAll(async () => {
  storage = (await sqliteStorage(join(folder, 'store.db'), { durability: 'relaxed' }))._unsafeUnwrap();
  engine = createEngine({ storage, clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() });
  handler = createHttpHandler(engine, { access: 'open' });
  (await putWorkspace(engine, hostPrincipal, { id: 'ws-1', name: 'w', organization: 'o' }))._unsafeUnwrap();
  const attributes = { name: 'n', destinationType: 'generic', url: 'https://a.example/x', enabled: true } as const;
  (
    await createNotificationConfiguration(engine, hostPrincipal, {
      workspaceId: 'ws-1',
      attributes: { ...attributes, triggers: ['run:completed'] },
    })
  ).map(() => undefined);
  for (let from = 0; from < rows; from += 50) {
    const some = Array.from({ length: 50 }, (_, at) => from + at);
    const made = some.flatMap((at) => [
      registerJob(engine, hostPrincipal, {
        job: { ID: `job-${at}`, Type: 'batch', Datacenters: ['dc1'], TaskGroups: [groupDocument()] },
      }).map(() => undefined),
      sendNotificationEvent(engine, hostPrincipal, {
        workspaceId: 'ws-1',
        event: runEvent({ runId: `run-${at}`, message: `event ${at}` }),
      }).map(() => undefined),
    ]);
    for (const each of await Promise.all(made)) each._unsafeUnwrap();
  }
}, 600_000);
afterAll(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The longest turn of the event loop while a call is answered, in milliseconds of processor time. */
async function longestBlock(call: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = threadTime();
  let going = true;
  const turn = (): void => {
    const now = threadTime();
    longest = Math.max(longest, now - last);
    last = now;
    if (going) setImmediate(turn);
  };
  setImmediate(turn);
  await call();
  going = false;
  await new Promise(setImmediate);
  return longest;
}

const nothing = (selector: string): string => encodeURIComponent(`${selector} == "nowhere"`);
it.each([
  `/v1/jobs?filter=${nothing('ID')}`,
  `/v1/jobs?namespace=*&filter=${nothing('Name')}`,
  `/v1/jobs?index=1&filter=${nothing('ID')}`,
  `/v1/evaluations?filter=${nothing('JobID')}`,
  `/v1/evaluations?namespace=*&filter=${nothing('JobID')}`,
  '/v1/evaluations',
  '/v1/jobs',
  `/v1/evaluations/count?filter=${nothing('JobID')}`,
  '/v1/search',
  '/v1/search?namespace=*',
  '/v1/search/fuzzy?namespace=*',
  '/v1/metrics',
  `/workspaces/ws-1/notification-events?filter[expression]=${nothing('message')}`,
  '/workspaces/ws-1/notification-events?filter[outcome]=dead',
  '/workspaces/ws-1/notification-events',
])('%s', async (target) => {
  const ofSearch = target.startsWith('/v1/search/fuzzy') ? { Text: 'job' } : { Prefix: 'a' };
  const body = target.startsWith('/v1/search') ? { ...ofSearch, Context: 'all' } : undefined;
  const read = async (): Promise<void> => {
    const answer = await handler(requestFrom({ target, ...(body === undefined ? {} : { method: 'POST', body }) }));
    expect(answer.status, String(answer.body)).toBe(200);
    if (typeof answer.body === 'string' || Buffer.isBuffer(answer.body)) return;
    for await (const piece of answer.body) expect(piece).toBeDefined();
  };
  await read();
  const blocks = [await longestBlock(read), await longestBlock(read), await longestBlock(read)];
  const block = Math.min(...blocks);
  if (process.env['SIGNALBOX_BLOCK_ROWS'] !== undefined) process.stdout.write(`${block.toFixed(1)} ms ${target}\n`);
  expect(block).toBeLessThan(BOUND);
});

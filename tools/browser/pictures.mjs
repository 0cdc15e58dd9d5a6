// Makes the pictures of the guide of the web page: `node tools/browser/pictures.mjs`, after a build.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allocationOf, eventually, register, startBrowser, startServer } from './support.mjs';

const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const own = await mkdtemp(join(tmpdir(), 'signalbox-pictures-'));
const seed = join(own, 'seed.json');
await writeFile(
  seed,
  JSON.stringify({
    workspaces: [
      { id: 'ws-platform', name: 'Platform team', organization: 'demo', execution_mode: 'remote', drift_detection: true, health_assessments: true },
    ],
  }),
);
/** A destination that has answered its verification and fails since. */
let isDown = false;
const receiver = createServer((_, response) => response.writeHead(isDown ? 503 : 200).end(isDown ? 'maintenance' : 'ok'));
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const hook = `http://127.0.0.1:${receiver.address().port}/hooks`;

const server = await startServer('--access', 'open', '--seed', seed, '--allow-outbound', '127.0.0.1/32');
const call = async (method, path, body, type = 'application/json') => {
  const answer = await fetch(server.url + path, { method, headers: { 'Content-Type': type }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
};
const task = (script, MemoryMB = 16) => ({ Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/sh', args: ['-c', script] }, Resources: { CPU: 20, MemoryMB } });
const once = { RestartPolicy: { Attempts: 0, Mode: 'fail' }, ReschedulePolicy: { Attempts: 0, Unlimited: false } };
const group = (script, more = {}) => ({ Name: 'main', Count: 1, ...more, Tasks: [task(script, more.memory)] });

const web = (count, script) => ({
  ID: 'web', Type: 'service', Datacenters: ['*'],
  Update: { MaxParallel: 1, Canary: 1, MinHealthyTime: 0, HealthCheck: 'task_states' },
  TaskGroups: [group(script, { Count: count })],
});
await register(server.url, web(4, 'exec sleep 6000'));
await eventually(async () => ((await call('GET', '/v1/job/web/deployment')).Status === 'successful' ? true : undefined), () => 'web');
await register(server.url, web(4, 'exec sleep 6001'));
await register(server.url, { ID: 'ingest', Type: 'service', Datacenters: ['*'], TaskGroups: [group('exec sleep 6000', { Count: 2, memory: 900_000 })] });
await register(server.url, {
  ID: 'sync', Type: 'batch', Datacenters: ['*'], Periodic: { Enabled: true, SpecType: 'cron', Specs: ['*/15 * * * *'], TimeZone: 'Europe/Berlin' }, TaskGroups: [group('echo synced')],
});
await register(server.url, {
  ID: 'nightly', Type: 'batch', Datacenters: ['*'], Periodic: { Enabled: true, SpecType: 'cron', Specs: ['30 2 * * *'], TimeZone: 'Europe/Berlin' }, TaskGroups: [group('echo done')],
});
await register(server.url, {
  ID: 'report', Type: 'batch', Datacenters: ['*'], ParameterizedJob: { MetaRequired: ['customer'], Payload: 'optional' },
  TaskGroups: [group('echo "fatal: no data for customer" >&2; exit 3', once)],
});
for (const customer of ['bob', 'eve', 'mallory']) await call('POST', '/v1/job/report/dispatch', { Meta: { customer } });
await register(server.url, {
  ID: 'shop', Type: 'service', Datacenters: ['*'],
  TaskGroups: [group('i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo "2026-11-28T13:58:$(printf %02d $((i % 60)))Z INFO order $i stored in 12 ms"; [ $((i % 37)) = 0 ] && echo "2026-11-28T13:58:41Z WARN payment of order $i is slow" || true; [ $((i % 91)) = 0 ] && echo "2026-11-28T13:58:42Z ERROR no stock for order $i"; done; exec sleep 6000')],
});
const configuration = await call(
  'POST', '/workspaces/ws-platform/notification-configurations',
  { data: { type: 'notification-configurations', attributes: { name: 'Ops hook', 'destination-type': 'generic', url: hook, enabled: true, triggers: ['run:errored', 'run:completed'] } } },
  'application/vnd.api+json',
);
isDown = true;
const event = (id) => ({ data: { type: 'notification-events', attributes: { trigger: 'run:errored', run_id: id, message: 'report failed' } } });
for (const id of ['run-1', 'run-2']) await call('POST', '/workspaces/ws-platform/notification-events', event(id), 'application/vnd.api+json');
await eventually(async () => ((await call('GET', '/v1/jobs/failures?job=report')).failures === 3 ? true : undefined), () => 'failures');
const shop = await allocationOf(server.url, 'shop');
const { data: deliveries } = await eventually(
  async () => {
    const found = await call('GET', `/notification-configurations/${configuration.data.id}/deliveries`);
    return found.data.length > 0 ? found : undefined;
  },
  () => 'deliveries',
);

const browser = await startBrowser([]);
const page = await (await browser.newContext({ viewport: { width: 1200, height: 640 }, colorScheme: 'light' })).newPage();
const picture = async (name, path, ready) => {
  await page.goto(`${server.url}/ui/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await ready?.();
  await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
  await page.screenshot({ path: join(folder, `${name}.png`) });
};
await picture('now', '', () => page.getByText('wait for room').waitFor());
await picture('jobs', 'jobs', () => page.getByRole('link', { name: 'report', exact: true }).waitFor());
await picture('logs', `allocs/${shop}/logs/main/stdout`, () => page.getByText('order 400').waitFor());
await picture('delivery', `notify/ws-platform/deliveries/${deliveries[0].id}`, () => page.getByText('503').first().waitFor());
await page.goto(`${server.url}/ui/jobs/new`);
await page.getByRole('button', { name: /^Plan/ }).click();
await page.getByRole('button', { name: 'Apply this plan' }).waitFor();
await page.screenshot({ path: join(folder, 'plan.png') });

await browser.close();
await server.ended();
receiver.close();
await rm(own, { recursive: true, force: true });

import { randomIds } from '../../../adapters/node/random-ids.js';
import { systemClock } from '../../../adapters/node/system-clock.js';
import { sqliteStorage } from '../../../adapters/sqlite/sqlite-storage.js';
import { undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine } from '../../../src/engine.js';
import { queues } from '../../../src/notifications/queue/queue-record.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import { listNotificationConfigurations } from '../../../src/operations/notifications/configurations/list-notification-configurations.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

/*
 * A service that accepts events and delivers them until it is killed: `node delivery-crash-sender.mjs <file> <url> <name>
 * <events>`. Prints the name of each event after it was accepted. With no events to accept, it ends when all is delivered.
 */

const [, , file = '', url = '', name = '', events = '0'] = process.argv;
const storage = (await sqliteStorage(file))._unsafeUnwrap();
const delivery = undiciDelivery({ allow: { cidrs: ['127.0.0.0/8'] } });
const settings = {
  notifications: {
    delivery: { lease: 150, linger: 50, concurrency: 16, concurrencyPerDestination: 8, retry: { generic: [20, 20] } },
  },
};
const engine = createEngine({ storage, clock: systemClock(), ids: randomIds(), delivery }, settings);
const workspaceId = 'ws-1';

(await putWorkspace(engine, hostPrincipal, { id: workspaceId, name: 'net', organization: 'acme' }))._unsafeUnwrap();
const present = (await listNotificationConfigurations(engine, hostPrincipal, { workspaceId }))._unsafeUnwrap();
if (present.items.length === 0) {
  const attributes = {
    destinationType: 'generic',
    name: 'hook',
    url,
    enabled: true,
    triggers: ['run:errored'],
    token: 't',
  };
  (await createNotificationConfiguration(engine, hostPrincipal, { workspaceId, attributes }))._unsafeUnwrap();
}

engine.start();
let next = 0;
await Promise.all(Array.from({ length: 3 }, accept));
if (events === '0') {
  const unfinished = async (): Promise<number> =>
    (await storage.read((view) => view.list(queues, { index: 'by_wake' }).length))._unsafeUnwrap();
  while ((await unfinished()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await engine.stop();
  await delivery.close();
  await storage.close();
}

async function accept(): Promise<void> {
  while (next < Number(events)) {
    const runId = `${name}-${next++}`;
    const attributes = { trigger: 'run:errored', run_id: runId, run_status: 'errored' };
    (await sendNotificationEvent(engine, hostPrincipal, { workspaceId, attributes }))._unsafeUnwrap();
    process.stdout.write(`${runId}\n`);
  }
}

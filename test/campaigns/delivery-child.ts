import { randomIds, systemClock } from '../../adapters/node/index.js';
import { sqliteStorage } from '../../adapters/sqlite/index.js';
import { undiciDelivery } from '../../adapters/undici/index.js';
import { createEngine, hostPrincipal } from '../../src/index.js';
import { sendNotificationEvent } from '../../src/operations/notifications/events/send-notification-event.js';

/*
 * One process of the campaign of kills: publishes the events of its own runs, each run in order, delivers what is due, whoever
 * published it, and prints `ack RUN NUMBER` for each event that was accepted. Ends by being killed.
 */
const [, , file = '', name = '', mode = ''] = process.argv;
const runs = 3;

const opened = await sqliteStorage(file);
if (opened.isErr()) throw new Error(opened.error.message);
const engine = createEngine(
  {
    storage: opened.value,
    clock: systemClock(),
    ids: randomIds(),
    delivery: undiciDelivery({ allow: { cidrs: ['127.0.0.1/32'] } }),
  },
  {
    notifications: {
      delivery: {
        lease: 1000,
        linger: 1000,
        retry: { generic: Array(20).fill(200) },
        breaker: { pause: 500, maximumPause: 500 },
      },
    },
  },
);
engine.start();
// An engine that waits does not keep its process alive: a server's sockets do. This process has none.
setInterval(() => undefined, 1000);
process.stdout.write('ready\n');
if (mode === 'publish') for (let run = 0; run < runs; run += 1) void publish(`${name}-${run}`);

async function publish(run: string): Promise<void> {
  for (let number = 1; ; number += 1) {
    const attributes = {
      trigger: 'run:created',
      run_id: run,
      run_message: `${number}`,
      idempotency_key: `${run} ${number}`,
    };
    const sent = await sendNotificationEvent(engine, hostPrincipal, { workspaceId: 'ws', attributes });
    if (sent.isErr()) number -= 1;
    else process.stdout.write(`ack ${run} ${number}\n`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

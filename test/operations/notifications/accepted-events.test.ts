import { describe, expect, test } from 'vitest';
import { manualClock } from '../../../adapters/memory/manual-clock.js';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { queues } from '../../../src/notifications/queue/queue-record.js';
import { updateNotificationConfiguration } from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';

import type { Storage } from '../../../src/ports/storage.js';
import { second } from '../../../src/shared/duration.js';
import { create, must, owner, publish, runEvent, type TestEngine, testEngine, workspaceId } from './engine-setup.js';

const runOf = (request: { body: string }): string => JSON.parse(request.body).run_id;

/** A storage that counts its reads and the rows of queues that its writes put. */
function countingStorage(storage = memoryStorage()) {
  const counts = { reads: 0, queueRows: 0 };
  const counting: Storage = {
    ...storage,
    read: (work) => {
      counts.reads += 1;
      return storage.read(work);
    },
    write: (work) =>
      storage.write((view) => {
        const put: typeof view.put = (table, record) => {
          if (table.name === queues.name) counts.queueRows += 1;
          view.put(table, record);
        };
        return work(
          new Proxy(view, {
            get: (target, name) => {
              if (name === 'put') return put;
              const member: unknown = Reflect.get(target, name, target);
              return typeof member === 'function' ? member.bind(target) : member;
            },
          }),
        );
      }),
  };
  return { storage: counting, counts };
}

/** Engines of two processes over one store, one of which delivers; its queue has been taken. */
async function delivering() {
  const shared = memoryStorage();
  const clock = manualClock();
  const { storage, counts } = countingStorage(shared);
  const engine = await testEngine({}, { ports: { storage, clock } });
  const { id } = await must(create(engine));
  engine.start();
  await publish(engine, { runId: 'first' });
  await clock.advance(100);
  const other = await testEngine({}, { ports: { storage: shared, clock } });
  await clock.advance(100);
  engine.delivery.clear();
  return { engine: { ...engine, clock } as TestEngine, other, id, clock, counts, shared };
}

describe('what the delivering process has accepted itself', () => {
  test('is delivered without a look at the store', async () => {
    const { engine, clock, counts } = await delivering();
    const before = counts.reads;
    for (let n = 0; n < 10; n += 1) {
      await publish(engine, { runId: `run-${n}` });
      await clock.advance(60);
    }
    expect(engine.delivery.requests.map(runOf)).toEqual(Array.from({ length: 10 }, (_none, n) => `run-${n}`));
    expect(counts.reads - before).toBe(0);
    await engine.stop();
  });

  test('comes in order with what another process accepts', async () => {
    const { engine, other, clock } = await delivering();
    const from = [engine, other, other, engine, engine, other, engine];
    for (const [n, each] of from.entries()) await publish(each, { runId: 'one-run', message: `${n}` });
    await clock.advance(second);
    const messages = engine.delivery.requests.map(({ body }) => JSON.parse(body).notifications[0].message);
    expect(messages).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    await engine.stop();
  });

  test('goes where another process has just led the configuration', async () => {
    const { engine, other, id, clock } = await delivering();
    const attributes = { url: 'https://hooks.example.net/elsewhere' };
    await must(updateNotificationConfiguration(other, owner, { configurationId: id, attributes }));
    await publish(engine, { runId: 'after' });
    await clock.advance(second);
    expect(engine.delivery.requests.filter((each) => runOf(each) === 'after').map(({ url }) => url)).toEqual([
      'https://hooks.example.net/elsewhere',
    ]);
    await engine.stop();
  });

  test('is what the store has, not the object of the caller', async () => {
    const { engine, clock } = await delivering();
    const event = { ...runEvent({ runMessage: 'as it was' }) };
    await must(sendNotificationEvent(engine, owner, { workspaceId, event }).map(() => (event.runMessage = 'changed')));
    await clock.advance(second);
    expect(JSON.parse(engine.delivery.requests[0]?.body ?? '{}').run_message).toBe('as it was');
    await engine.stop();
  });
});

describe('the row of a queue', () => {
  test('is not written for each delivery, and what was delivered is not sent again by the next process', async () => {
    const { engine, other, clock, counts } = await delivering();
    const before = counts.queueRows;
    for (let n = 0; n < 20; n += 1) {
      await publish(engine, { runId: `run-${n}` });
      await clock.advance(60);
    }
    expect(engine.delivery.requests).toHaveLength(20);
    expect(counts.queueRows - before).toBeLessThanOrEqual(1);
    // The first process is never stopped: nothing that it has done is done again.
    other.start();
    await clock.advance(10 * second);
    await publish(other, { runId: 'new' });
    await clock.advance(10 * second);
    const sent = [...other.delivery.requests, ...engine.delivery.requests.slice(20)].map(runOf);
    expect(sent).toEqual(['new']);
    await Promise.all([engine.stop(), other.stop()]);
  });
});

import { describe, expect, test } from 'vitest';
import { hostPrincipal } from '../../../src/access/principal.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';

import { minute } from '../../../src/shared/duration.js';
import { create, must, owner, runEvent, type TestEngine, testEngine, workspaceId } from './engine-setup.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

async function started(settings = {}): Promise<TestEngine> {
  const engine = await testEngine(settings);
  await must(create(engine));
  engine.delivery.clear();
  engine.start();
  return engine;
}

const publish = (engine: TestEngine, header: string | undefined) =>
  must(
    sendNotificationEvent(engine, header === undefined ? owner : { ...owner, traceparent: header }, {
      workspaceId,
      event: runEvent(),
    }),
  );
const sent = (engine: TestEngine) => engine.delivery.requests.map(({ headers }) => headers['traceparent']);

describe('a trace that a call belongs to, with nobody who records', () => {
  test('is told to the destination, with each attempt', async () => {
    const engine = await started();
    engine.delivery.answer({ status: 503 });
    await publish(engine, traceparent);
    await engine.clock.advance(10 * minute);
    expect(sent(engine).length).toBeGreaterThan(1);
    expect(new Set(sent(engine))).toEqual(new Set([traceparent]));
    await engine.stop();
  });

  test.each([undefined, 'no trace', `${traceparent}\r\nx-evil: 1`])('%j adds nothing', async (header) => {
    const engine = await started();
    await publish(engine, header);
    await engine.clock.advance(minute);
    expect(sent(engine)).toEqual([undefined]);
    await engine.stop();
  });

  test('is kept back by the settings', async () => {
    const engine = await started({ notifications: { traceparent: false } });
    await publish(engine, traceparent);
    await engine.clock.advance(minute);
    expect(sent(engine)).toEqual([undefined]);
    await engine.stop();
  });

  test('does not change what the host may do', async () => {
    const engine = await started();
    await must(sendNotificationEvent(engine, { ...hostPrincipal, traceparent }, { workspaceId, event: runEvent() }));
    await engine.clock.advance(minute);
    expect(sent(engine)).toEqual([traceparent]);
    await engine.stop();
  });
});

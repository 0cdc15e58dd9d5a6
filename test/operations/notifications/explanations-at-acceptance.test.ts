import fc from 'fast-check';
import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { events } from '../../../src/notifications/events/event.js';
import {
  deleteNotificationConfiguration,
  pauseNotificationConfiguration,
} from '../../../src/operations/notifications/configurations/pause-and-delete-configuration.js';
import { updateNotificationConfiguration } from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import { showNotificationEvent } from '../../../src/operations/notifications/events/events-log.js';
import { explainEvent, sendSampleEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { create, must, owner, publish, runEvent, testEngine, workspaceId } from './engine-setup.js';

const shown = async (engine: Awaited<ReturnType<typeof testEngine>>, eventId: string) =>
  must(showNotificationEvent(engine, owner, { eventId }));

describe('why a configuration was notified or not, when the event was accepted', () => {
  const configuration = fc.record({
    destinationType: fc.constantFrom('generic', 'slack', 'email'),
    enabled: fc.boolean(),
    triggers: fc.subarray(['run:created', 'run:errored', 'run:completed']),
    users: fc.constantFrom([], ['user-1']),
    delivery: fc.constantFrom(undefined, { filter: 'run_id == "run-a"' }, { filter: 'run_id == "run-b"' }),
  });

  test('is what the explanation said then, whatever is changed afterwards', async () => {
    const runs = fc.asyncProperty(
      fc.array(configuration, { maxLength: 4 }),
      fc.boolean(),
      async (configurations, speculative) => {
        const engine = await testEngine();
        const ids: string[] = [];
        for (const [at, attributes] of configurations.entries()) {
          ids.push((await must(create(engine, { ...attributes, name: `c${at}` }))).id);
        }
        const sent = { runId: 'run-a', speculative };
        const then = await must(explainEvent(engine, owner, { workspaceId, event: runEvent(sent) }));
        const { eventId } = await publish(engine, sent);
        const byId = (list: typeof then | null) =>
          [...(list ?? [])].sort((a, b) => a.configurationId.localeCompare(b.configurationId));
        expect(byId((await shown(engine, eventId)).explanationsAtAcceptance)).toEqual(byId(then));
        for (const [at, configurationId] of ids.entries()) {
          const attributes = { triggers: ['run:planning'], name: at === 0 ? 'renamed' : `c${at}` };
          await must(updateNotificationConfiguration(engine, owner, { configurationId, attributes }));
        }
        const late = await must(create(engine, { name: 'late' }));
        const after = await shown(engine, eventId);
        const decided = (list: typeof then | null) =>
          byId(list).map(({ configurationId, fires, obstacles }) => ({ configurationId, fires, obstacles }));
        expect(decided(after.explanationsAtAcceptance)).toEqual(decided(then));
        expect(after.explanations.map(({ configurationId }) => configurationId)).toContain(late.id);
      },
    );
    await fc.assert(runs, { numRuns: 40 });
  });

  test('outlives the configuration, with its name', async () => {
    const engine = await testEngine();
    const { id: configurationId } = await must(create(engine, { name: 'Ops hook', triggers: ['run:created'] }));
    const { eventId } = await publish(engine);
    await must(deleteNotificationConfiguration(engine, owner, { configurationId }));
    expect(await shown(engine, eventId)).toMatchObject({
      explanations: [],
      explanationsAtAcceptance: [{ configurationId, name: 'Ops hook', fires: false, obstacles: ['trigger_off'] }],
    });
  });

  test('of a paused configuration that is notified: it fires', async () => {
    const engine = await testEngine();
    const { id: configurationId } = await must(create(engine));
    await must(pauseNotificationConfiguration(engine, owner, { configurationId }));
    const { eventId } = await publish(engine);
    expect((await shown(engine, eventId)).explanationsAtAcceptance).toMatchObject([{ configurationId, fires: true }]);
  });

  test('is not known of a sample, nor of an event that an earlier version has accepted', async () => {
    const engine = await testEngine();
    const { id: configurationId } = await must(create(engine));
    const sample = await must(sendSampleEvent(engine, owner, { configurationId, sample: { trigger: 'run:errored' } }));
    expect((await shown(engine, sample.eventId)).explanationsAtAcceptance).toBeNull();
    const { eventId } = await publish(engine);
    await must(
      engine.storage.write((tx) => {
        const row = tx.list(events, {}).find(({ record }) => record.id === eventId);
        if (row === undefined) throw new Error('the event is missing');
        const { missed: _later, ...earlier } = row.record;
        tx.put(events, earlier);
        return ok(undefined);
      }),
    );
    expect((await shown(engine, eventId)).explanationsAtAcceptance).toBeNull();
  });
});

import * as api from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import { createHttpHandler, fetchHandler } from '../../../adapters/compat/index.js';
import {
  manualClock,
  memoryStorage,
  recordingDelivery,
  recordingMailer,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { openTelemetryTracer } from '../../../adapters/opentelemetry/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import { putUser, putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import type { Mailer } from '../../../src/ports/index.js';

import { hour, minute } from '../../../src/shared/duration.js';
import { batchJob } from '../../operations/jobs/world.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const incoming = `00-${traceId}-00f067aa0ba902b7-01`;

async function world({ mailer }: { readonly mailer?: Mailer } = {}) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const delivery = recordingDelivery({ clock });
  const engine = createEngine(
    {
      storage: memoryStorage(),
      clock,
      ids: sequentialIds(),
      delivery,
      ...(mailer === undefined ? {} : { mailer }),
      tracer: openTelemetryTracer({ api, tracer: provider.getTracer('signalbox') }),
    },
    { runNotifications: [{ workspace: 'ws-1' }] },
  );
  const input = { id: 'ws-1', name: 'net', organization: 'acme' };
  (await putWorkspace(engine, hostPrincipal, input))._unsafeUnwrap();
  const attributes = {
    destinationType: 'generic',
    name: 'hook',
    url: 'https://hooks.example.net/tf',
    enabled: true,
    triggers: ['run:created', 'run:errored'],
  };
  (await createNotificationConfiguration(engine, hostPrincipal, { workspaceId: 'ws-1', attributes }))._unsafeUnwrap();
  delivery.clear();
  exporter.reset();
  engine.start();
  const spans = (name: string): ReadableSpan[] => exporter.getFinishedSpans().filter((span) => span.name === name);
  return { engine, clock, delivery, spans };
}

async function call(engine: Engine, method: string, path: string, document?: unknown, traceparent = incoming) {
  const handle = fetchHandler(createHttpHandler(engine, { access: 'open' }));
  const type = path.startsWith('/v1/') ? 'application/json' : 'application/vnd.api+json';
  const headers = { traceparent, 'content-type': type };
  const body = document === undefined ? {} : { body: JSON.stringify(document) };
  return handle(new Request(`http://127.0.0.1${path}`, { method, headers, ...body }));
}

const one = (found: readonly ReadableSpan[]): ReadableSpan => {
  expect(found).toHaveLength(1);
  return found[0] as ReadableSpan;
};

describe('spans', () => {
  it('join the request of an event with the attempts to deliver it, and the destination with both', async () => {
    const { engine, clock, delivery, spans } = await world();
    const attributes = { trigger: 'run:errored', message: 'Run Errored', run_id: 'run-1' };
    const path = '/workspaces/ws-1/notification-events';
    const answer = await call(engine, 'POST', path, { data: { type: 'notification-events', attributes } });
    expect(answer.status).toBe(202);
    await clock.advance(minute);
    const request = one(spans('POST /workspaces/{workspace_id}/notification-events'));
    expect(request.parentSpanContext).toMatchObject({ traceId, spanId: '00f067aa0ba902b7' });
    expect(request.attributes).toMatchObject({ 'http.response.status_code': 202 });
    const attempt = one(spans('notification attempt'));
    expect(attempt.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
    expect(attempt.spanContext().traceId).toBe(traceId);
    expect(delivery.requests.map(({ headers }) => headers['traceparent'])).toEqual([
      `00-${traceId}-${attempt.spanContext().spanId}-01`,
    ]);
    await engine.stop();
  });

  it('join the registration of a job with its evaluation, its run and the messages of that', async () => {
    const { engine, clock, spans } = await world();
    expect((await call(engine, 'PUT', '/v1/jobs', { Job: batchJob('report') })).status).toBe(200);
    await clock.advance(minute);
    const request = one(spans('PUT /v1/jobs'));
    const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;
    const evaluation = one(spans('evaluation'));
    expect(parentOf(evaluation)).toBe(request.spanContext().spanId);
    expect(evaluation.attributes).toMatchObject({ 'signalbox.job': 'report' });
    expect(spans('run')).toEqual([]);
    await call(engine, 'DELETE', '/v1/job/report', undefined, 'no trace');
    await clock.advance(minute);
    const run = one(spans('run'));
    expect(parentOf(run)).toBe(request.spanContext().spanId);
    expect(run.attributes).toMatchObject({ 'signalbox.job': 'report', 'signalbox.status': 'canceled' });
    expect(run.endTime[0] - run.startTime[0]).toBe(minute / 1000);
    const attempts = spans('notification attempt');
    expect(attempts.map(parentOf)).toEqual(attempts.map(() => request.spanContext().spanId));
    expect(attempts.map(({ attributes }) => attributes['signalbox.trigger'])).toEqual(['run:created', 'run:errored']);
    await engine.stop();
  });

  it('of a periodic launch begin a trace of their own', async () => {
    const { engine, clock, spans } = await world();
    const job = batchJob('hourly', { Periodic: { Specs: ['0 * * * *'] } });
    (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
    await clock.advance(2 * hour + minute);
    const launches = spans('periodic launch');
    expect(launches.length).toBeGreaterThan(0);
    expect(launches.map((span) => span.parentSpanContext)).toEqual(launches.map(() => undefined));
    expect(new Set(launches.map((span) => span.spanContext().traceId)).size).toBe(launches.length);
    const messages = spans('notification attempt').filter(
      ({ attributes }) => attributes['signalbox.trigger'] === 'run:created',
    );
    const traces = new Set(messages.map((span) => span.spanContext().traceId));
    for (const launch of launches) expect(traces).toContain(launch.spanContext().traceId);
    await engine.stop();
  });

  it('say what failed', async () => {
    const { engine, clock, delivery, spans } = await world();
    delivery.answer({ status: 503 });
    const attributes = { trigger: 'run:errored', message: 'Run Errored', run_id: 'run-1' };
    const path = '/workspaces/ws-1/notification-events';
    await call(engine, 'POST', path, { data: { type: 'notification-events', attributes } }, 'no trace');
    await clock.advance(1000);
    const [attempt] = spans('notification attempt');
    expect(attempt?.status).toEqual({ code: 2, message: 'status 503' });
    await engine.stop();
  });

  it('tell of e-mail how many of its recipients had it', async () => {
    const error = { type: 'mail_rejected', message: 'no such mailbox' } as const;
    const mailer = recordingMailer({ fail: (_message, n) => (n <= 2 ? error : null) });
    const { engine, clock, spans } = await world({ mailer });
    const users = ['user-1', 'user-2'];
    for (const id of users) {
      const user = { id, username: id, email: `${id}@example.org`, organization: 'acme' };
      (await putUser(engine, hostPrincipal, user))._unsafeUnwrap();
    }
    const attributes = { destinationType: 'email', name: 'mail', enabled: true, triggers: ['run:errored'], users };
    (await createNotificationConfiguration(engine, hostPrincipal, { workspaceId: 'ws-1', attributes }))._unsafeUnwrap();
    const document = (run: string) => ({
      data: {
        type: 'notification-events',
        attributes: { trigger: 'run:errored', message: 'Run Errored', run_id: run },
      },
    });
    for (const run of ['run-1', 'run-2']) {
      await call(engine, 'POST', '/workspaces/ws-1/notification-events', document(run));
      await clock.advance(minute);
    }
    const mailed = spans('notification attempt').filter(({ attributes: { 'server.address': to } }) => to === 'mailto:');
    expect(mailed.map(({ attributes: { 'signalbox.recipients.accepted': n } }) => n)).toEqual([0, 2]);
    expect(mailed.map(({ status }) => status)).toEqual([{ code: 2, message: expect.any(String) }, { code: 0 }]);
    for (const span of mailed) expect(span.spanContext().traceId).toBe(traceId);
    await engine.stop();
  });

  it('are nothing without an SDK', () => {
    const span = openTelemetryTracer({ api }).begin({
      name: 'any',
      kind: 'internal',
      attributes: {},
    });
    expect(span.traceparent).toBeUndefined();
    span.end({ failure: 'any' });
  });
});

it('the active span of the host is the parent of an enqueue', () => {
  const span = { traceId, spanId: '00f067aa0ba902b7', traceFlags: 1 };
  const now = api.trace.setSpanContext(api.ROOT_CONTEXT, span);
  const context = { active: () => now };
  expect(openTelemetryTracer({ api: { ...api, context } }).active?.()).toBe(incoming);
  const none = { active: () => api.ROOT_CONTEXT };
  expect(openTelemetryTracer({ api: { ...api, context: none } }).active?.()).toBeUndefined();
  const { context: _, ...older } = api;
  expect(openTelemetryTracer({ api: older }).active?.()).toBeUndefined();
});

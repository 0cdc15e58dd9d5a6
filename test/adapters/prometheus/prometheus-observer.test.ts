import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createHttpHandler } from '../../../adapters/compat/index.js';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { prometheusObserver } from '../../../adapters/prometheus/index.js';
import { createEngine, hostPrincipal, instruments, type JobInput, orThrow } from '../../../src/index.js';
import { prometheusText } from '../../../src/metrics/prometheus-text.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { sourceFiles } from '../../support/source-imports.js';

describe('prometheusObserver', () => {
  it('adds counters up, keeps the last gauge, sorts values into buckets', () => {
    const observer = prometheusObserver();
    observer.count('signalbox.evaluations', 1, { status: 'complete' });
    observer.count('signalbox.evaluations', 2, { status: 'complete' });
    observer.count('signalbox.evaluations', 1, { status: 'a "\\\n' });
    observer.gauge('signalbox.notification.queues', 3, {});
    observer.gauge('signalbox.notification.queues', 1, {});
    for (const value of [0.005, 0.0051, 3, 60, Number.NaN]) {
      observer.record('signalbox.notification.attempt.duration', value, { kind: 'generic' });
    }
    const text = prometheusText(observer.families());
    expect(text).toContain(
      '# TYPE signalbox_evaluations_total counter\nsignalbox_evaluations_total{status="complete"} 3\n',
    );
    expect(text).toContain('signalbox_evaluations_total{status="a \\"\\\\\\n"} 1\n');
    expect(text).toContain('# TYPE signalbox_notification_queues gauge\nsignalbox_notification_queues 1\n');
    const name = 'signalbox_notification_attempt_duration_seconds';
    expect(text).toContain(`# TYPE ${name} histogram\n${name}_bucket{kind="generic",le="0.005"} 1\n`);
    expect(text).toContain(`${name}_bucket{kind="generic",le="0.01"} 2\n`);
    expect(text).toContain(`${name}_bucket{kind="generic",le="10"} 3\n${name}_bucket{kind="generic",le="+Inf"} 4\n`);
    expect(text).toContain(`${name}_sum{kind="generic"} 63.0101\n${name}_count{kind="generic"} 4\n`);
  });

  it('exports every counter at zero before anything is counted', () => {
    const text = prometheusText(prometheusObserver().families());
    for (const [name, { kind }] of Object.entries(instruments)) {
      if (kind === 'counter')
        expect(text).toMatch(new RegExp(`^${name.replaceAll('.', '_')}_total(?:\\{.+\\})? 0$`, 'm'));
    }
    expect(text).toContain('signalbox_notification_deliveries_total{outcome="dead"} 0\n');
    expect(text).toContain('signalbox_notification_events_total 0\n');
  });

  it('exports the failures of every background loop at zero', () => {
    const text = prometheusText(prometheusObserver().families());
    const source = sourceFiles(['src']);
    const names = source.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/BackgroundLoop = \{\s+name: '([^']+)'/g)].map((match) => match[1]),
    );
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) expect(text).toContain(`signalbox_loop_failures_total{loop="${name}"} 0\n`);
  });

  it('keeps no more sets of labels than a closed set can have', () => {
    const observer = prometheusObserver();
    for (let i = 0; i < 5000; i++) observer.count('signalbox.evaluations', 1, { status: `${i}` });
    const counted = observer.families().find(({ name }) => name === 'signalbox.evaluations');
    expect(counted?.measured).toHaveLength(2000);
  });
});

describe('/v1/metrics', () => {
  it('tells of both halves, as JSON and in the text format of Prometheus', async () => {
    const clock = manualClock();
    const delivery = recordingDelivery({ clock });
    const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery, observer: prometheusObserver() };
    await using engine = createEngine(ports);
    const box = engine.as(hostPrincipal);
    engine.start();
    await orThrow(putWorkspace(engine, hostPrincipal, { id: 'ws', name: 'ws', organization: 'o' }));
    await orThrow(
      box.notifications.create('ws', {
        name: 'Team',
        destinationType: 'generic',
        url: 'https://hooks.example.net/private-path',
        triggers: ['run:errored'],
        enabled: true,
      }),
    );
    const attributes = { trigger: 'run:errored', run_id: 'run-1' };
    await orThrow(sendNotificationEvent(engine, hostPrincipal, { workspaceId: 'ws', attributes }));
    const task = { Name: 't', Driver: 'function', Config: { function: 'f' } };
    const job: JobInput = { ID: 'secret-job', Type: 'batch', TaskGroups: [{ Name: 'g', Tasks: [task] }] };
    await orThrow(box.jobs.register(job));
    await clock.advance(60_000);

    const handle = createHttpHandler(engine, { access: 'open' });
    const get = async (target: string) => {
      const request = { method: 'GET', target, headers: ['host', 'localhost'], body: () => Promise.reject() };
      const { status, headers, body } = await handle(request as never);
      return { status, type: headers[headers.indexOf('Content-Type') + 1], body: String(body) };
    };
    expect((await get('/v1/job/secret-job')).status).toBe(200);
    const text = await get('/v1/metrics?format=prometheus&pretty');
    expect(text).toMatchObject({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' });
    expect(text.body).toContain('signalbox_evaluations_blocked 1\n');
    expect(text.body).toContain('signalbox_evaluations_total{status="complete"} 1\n');
    expect(text.body).toContain('signalbox_evaluation_duration_seconds_count ');
    expect(text.body).toContain('signalbox_job_starts_total{reason="registered"} 1\n');
    expect(text.body).toContain('signalbox_notification_events_total 1\n');
    expect(text.body).toContain('signalbox_notification_deliveries_total{outcome="delivered"} 1\n');
    expect(text.body).toContain(
      'signalbox_notification_attempts_total{kind="generic",outcome="delivered",class="none"} 1\n',
    );
    expect(text.body).toMatch(/signalbox_notification_verifications_total\{kind="generic",outcome="\w+"\} 1\n/);
    expect(text.body).toContain(
      'http_server_request_duration_seconds_count{http_request_method="GET",http_route="/v1/job/{job_id}",http_response_status_code="200"} 1\n',
    );
    expect(text.body).not.toContain('secret-job');
    expect(text.body).not.toContain('private-path');
    for (const line of text.body.trimEnd().split('\n')) {
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) [a-z_]+ .+|[a-z_]+(?:\{(?:[a-z_]+="[^"]*",?)+\})? [0-9.e+-]+)$/);
    }

    const json = await get('/v1/metrics');
    expect(json.type).toBe('application/json');
    expect(JSON.parse(json.body)).toMatchObject({
      Gauges: expect.arrayContaining([{ Name: 'signalbox.evaluations.blocked', Value: 1, Labels: {} }]),
      Counters: expect.arrayContaining([
        { Name: 'signalbox.notification.deliveries', Count: 1, Sum: 1, Mean: 1, Labels: { outcome: 'delivered' } },
      ]),
      Samples: expect.arrayContaining([expect.objectContaining({ Name: 'signalbox.notification.attempt.lag' })]),
    });
    expect((await get('/v1/metrics?format=xml')).status).toBe(400);
    expect(await orThrow(box.system.metrics({ format: 'prometheus' }))).toMatch(/^# HELP /);
  });
});

it('the guide lists every instrument', () => {
  const guide = readFileSync(new URL('../../../docs/guides/metrics.md', import.meta.url), 'utf8');
  const rows = Object.entries(instruments).map(
    ([name, { kind, unit, labels }]) => `| \`${name}\` | ${kind} | ${unit} | ${labels.join(', ')} |`,
  );
  expect(rows.filter((row) => !guide.includes(row))).toEqual([]);
});

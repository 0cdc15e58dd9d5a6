import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { destinationKinds } from '../../../src/notifications/configurations/destination.js';
import type { NotificationEvent } from '../../../src/notifications/events/event.js';
import { triggerDefinitions } from '../../../src/notifications/events/trigger.js';
import { explain } from '../../../src/notifications/explain.js';
import { type Occasion, productToken, renderPayload } from '../../../src/notifications/payloads/render-payload.js';
import {
  assessmentEvent,
  assessmentResult,
  configuration,
  endpoint,
  reminderEvent,
  resultsEvent,
  runEvent,
  workspace,
} from '../samples.js';

const golden = (name: string): string =>
  readFileSync(new URL(`../../golden/notifications/${name}.json`, import.meta.url), 'utf8').trim();

const event = (it: NotificationEvent): Occasion => ({ type: 'event', event: it, workspace });
const unsigned = { headers: ['x-svc-notification-signature'], standardWebhooks: false };
const identity = { token: null, retiredTokens: [], messageId: 'ne-1', now: 1767323045_500 };
const render = (occasion: Occasion, overrides = {}, request = {}) =>
  renderPayload({ ...configuration, ...overrides }, occasion, {
    endpoint,
    signature: unsigned,
    identity,
    recipients: [],
    ...request,
  });
const bodyOf = (occasion: Occasion, overrides = {}): string => {
  const rendered = render(occasion, overrides);
  return rendered.type === 'http' ? rendered.body : '';
};

describe('generic payloads, byte for byte', () => {
  const prior = { ...assessmentResult, drifted: false, resources_drifted: 0, resources_undrifted: 43 };
  const unknowns = {
    ...runEvent,
    trigger: 'run:created' as const,
    message: 'Größe ✓ "quoted"',
    runUrl: null,
    runMessage: null,
    runCreatedAt: null,
    runCreatedBy: null,
    runStatus: null,
    runUpdatedAt: null,
  };
  const failed = {
    ...resultsEvent,
    runCreatedAt: null,
    runStatus: null,
    runExternalId: null,
    runCreateErrorMessage: 'The workspace is locked',
  };
  test.each<[string, Occasion, object]>([
    ['verification', { type: 'verification' }, {}],
    ['run', event(runEvent), {}],
    ['run-unknowns', event(unknowns), {}],
    ['assessment-first', event(assessmentEvent), {}],
    ['assessment', event({ ...assessmentEvent, priorAssessmentResult: { ...prior, extra: 1 } as typeof prior }), {}],
    ['auto-destroy-reminder', event(reminderEvent), { triggers: ['workspace:auto_destro_reminder'] }],
    ['auto-destroy-reminder-alias', event(reminderEvent), { triggers: ['workspace:auto_destroy_reminder'] }],
    ['auto-destroy-results', event({ ...resultsEvent, autoDestroyAt: 'ignored' }), {}],
    ['auto-destroy-results-failed', event(failed), {}],
  ])('%s', (name, occasion, overrides) => {
    expect(bodyOf(occasion, overrides)).toBe(golden(name));
  });
});

describe('headers', () => {
  const headersOf = (overrides: object, request: object): Readonly<Record<string, string>> => {
    const rendered = render({ type: 'verification' }, overrides, request);
    return rendered.type === 'http' ? rendered.headers : {};
  };
  const signed = { identity: { ...identity, token: 's3cr3t-token' } };

  test('a generic destination with a token is signed with the known answer', () => {
    const headers = headersOf({}, signed);
    expect(headers['x-svc-notification-signature']).toBe(
      'df662abfb200a7acc58af6dd479bb60600385310fb2272546cf4eb2c31dc67265dbb4790e8803ddc533e0bcfcbc0f662ac93b24c340cde9e202626997c8abce0',
    );
    expect(headers['content-type']).toBe('application/json');
    expect(headers['user-agent']).toBe(`${productToken} (+https://tf.example.net)`);
    expect(headers['webhook-id']).toBeUndefined();
  });
  test('no token, no signature header', () => {
    expect(headersOf({}, {})).not.toHaveProperty('x-svc-notification-signature');
  });
  test.each(['chat-a', 'chat-b'])('%s is never signed', (kind) => {
    expect(headersOf({ kind }, signed)).not.toHaveProperty('x-svc-notification-signature');
    expect(headersOf({ kind }, signed)['content-type']).toBe('application/json; charset=utf-8');
  });
  test('several names, and the standard headers on request', () => {
    const signature = {
      headers: ['x-svc-notification-signature', 'x-tfe-notification-signature'],
      standardWebhooks: true,
    };
    const request = { signature, identity: { ...signed.identity, messageId: 'msg_1', retiredTokens: ['old'] } };
    const headers = headersOf({}, request);
    expect(headers['x-tfe-notification-signature']).toBe(headers['x-svc-notification-signature']);
    expect(headers['webhook-id']).toBe('msg_1');
    expect(headers['webhook-timestamp']).toBe('1767323045');
    expect(headers['webhook-signature']).toMatch(
      /^v1,qIA8RbHMD\/URsKxz8HudgfKSQuYi12E6F7bAzfSHD1Q= v1,[A-Za-z0-9+/]{43}=$/,
    );
  });
});

test('the product token names the version of the package', () => {
  const { name, version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(`${name}/${version}`.startsWith(productToken)).toBe(true);
});

describe('every event × destination × enabled × subscribed', () => {
  const events = triggerDefinitions.map((definition): NotificationEvent => {
    const sample =
      definition.scope === 'run'
        ? runEvent
        : definition.scope === 'assessment'
          ? assessmentEvent
          : definition.aliases.length > 0
            ? reminderEvent
            : resultsEvent;
    return { ...sample, trigger: definition.value } as NotificationEvent;
  });
  const cases = events.flatMap((it) =>
    destinationKinds.flatMap((kind) =>
      [true, false].flatMap((enabled) =>
        [true, false].map((subscribed) => ({ event: it, trigger: it.trigger, kind, enabled, subscribed })),
      ),
    ),
  );
  test.each(cases)('$trigger → $kind, enabled $enabled, subscribed $subscribed', (it) => {
    const other = it.trigger === 'run:planning' ? 'run:applying' : 'run:planning';
    const destination = {
      ...configuration,
      kind: it.kind,
      destinationType: it.kind,
      enabled: it.enabled,
      triggers: it.subscribed ? [other, it.trigger] : [other],
      users: it.kind === 'email' ? ['user-1'] : [],
    };
    const explained = explain(it.event, workspace, [destination])[0];
    const fires = it.enabled && it.subscribed;
    expect(explained?.fires).toBe(fires);
    expect(explained?.obstacles).toEqual([
      ...(it.enabled ? [] : ['disabled']),
      ...(it.subscribed ? [] : ['trigger_off']),
    ]);
    const recipient = { userId: 'user-1', username: 'dana', email: 'dana@example.org' };
    const rendered = render(event(it.event), destination, { recipients: [recipient] });
    expect(rendered.type).toBe(it.kind === 'email' ? 'email' : 'http');
    if (rendered.type === 'http') expect(JSON.stringify(JSON.parse(rendered.body))).toBe(rendered.body);
    else expect(rendered.mails.map((mail) => mail.to)).toEqual(['dana@example.org']);
  });
});

describe('what keeps an event from notifying anybody', () => {
  const obstacles = (it: NotificationEvent, overrides: object) =>
    explain(it, { ...workspace, ...overrides }, [
      { ...configuration, triggers: triggerDefinitions.map(({ value }) => value) },
    ])[0]?.obstacles;
  test.each<[string, NotificationEvent, object, readonly string[]]>([
    ['a speculative run', { ...runEvent, speculative: true }, {}, ['speculative_run']],
    ['local execution', runEvent, { executionMode: 'local' }, ['local_execution']],
    ['agent execution does not', runEvent, { executionMode: 'agent' }, []],
    ['drift detection off', assessmentEvent, { driftDetection: false }, ['feature_off']],
    [
      'drift detection off, for checks',
      { ...assessmentEvent, trigger: 'assessment:check_failure' },
      { driftDetection: false },
      ['feature_off'],
    ],
    [
      'health assessments off',
      { ...assessmentEvent, trigger: 'assessment:failed' },
      { healthAssessments: false },
      ['feature_off'],
    ],
    [
      'all at once',
      { ...runEvent, speculative: true },
      { executionMode: 'local' },
      ['speculative_run', 'local_execution'],
    ],
  ])('%s', (_name, it, overrides, expected) => {
    expect(obstacles(it, overrides)).toEqual(expected);
  });
  test('e-mail without users', () => {
    const mail = { ...configuration, kind: 'email' as const, users: [] };
    expect(explain(runEvent, workspace, [mail])[0]?.obstacles).toEqual(['no_recipients']);
  });
});

describe('a run that a task has failed', () => {
  const failure = {
    allocationId: 'a-1',
    group: 'api',
    task: 'migrate',
    exitCode: 3,
    signal: null,
    message: 'Exit Code: 3',
  };
  const failed = event({ ...runEvent, failure });
  test('says which and why in the payload', () => {
    expect(JSON.parse(bodyOf(failed)).notifications[0].run_failure).toEqual({
      allocation_id: 'a-1',
      task_group: 'api',
      task: 'migrate',
      exit_code: 3,
      signal: null,
      message: 'Exit Code: 3',
    });
    expect(JSON.parse(bodyOf(event(runEvent))).notifications[0]).not.toHaveProperty('run_failure');
  });
  test('links to what the task wrote, in payload, chat and mail', () => {
    const outputUrl = 'https://box.example.net/v1/client/fs/logs/a-1';
    const linked = event({ ...runEvent, failure: { ...failure, outputUrl } });
    expect(JSON.parse(bodyOf(linked)).notifications[0].run_failure).toMatchObject({ output_url: outputUrl });
    const recipients = [{ userId: 'u', username: 'u', email: 'u@example.org' }];
    const rendered = render(linked, { kind: 'email' }, { recipients });
    const mail = rendered.type === 'email' ? rendered.mails[0]?.text : '';
    for (const body of [bodyOf(linked, { kind: 'chat-a' }), bodyOf(linked, { kind: 'chat-b' }), mail]) {
      expect(body).toContain(outputUrl);
    }
  });
  test.each(['chat-a', 'chat-b'] as const)('says so in %s', (kind) => {
    for (const part of ['api/migrate', 'code 3', 'Exit Code: 3', 'a-1']) {
      expect(bodyOf(failed, { kind })).toContain(part);
    }
  });
  test('says so in mail', () => {
    const recipients = [{ userId: 'u', username: 'u', email: 'u@example.org' }];
    const rendered = render(failed, { kind: 'email' }, { recipients });
    const text = rendered.type === 'email' ? rendered.mails[0]?.text : '';
    for (const part of ['api/migrate', 'code 3', 'Exit Code: 3']) expect(text).toContain(part);
  });
});

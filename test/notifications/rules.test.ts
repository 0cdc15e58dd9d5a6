import { describe, expect, test } from 'vitest';
import {
  type Enablement,
  type EnablementEvent,
  transitionEnablement,
} from '../../src/notifications/configurations/decide-configuration.js';
import type { DestinationKind } from '../../src/notifications/configurations/destination.js';
import { classifyAnswer, classifySilence } from '../../src/notifications/delivery/classify-failure.js';
import { redactHeaders, withoutUserinfo } from '../../src/notifications/delivery/redact.js';
import {
  nextAttemptAt,
  parseRetryAfter,
  transitionDelivery,
} from '../../src/notifications/delivery/transition-delivery.js';
import { eventFromAttributes } from '../../src/notifications/events/event-attributes.js';
import { notificationForRunStatus } from '../../src/notifications/events/trigger.js';
import { signBody, standardSignature } from '../../src/notifications/signature.js';
import {
  afterFailure,
  afterSuccess,
  breakerAllows,
  closedBreaker,
  drawn,
  perSecond,
  refilled,
  startsAt,
  type TokenBucket,
} from '../../src/queue/limits.js';

test('signatures of the known answers', () => {
  expect(signBody('tökén', '{"message":"Größe ✓"}')).toBe(
    'dccfb4ac0e28bab0832f2ba802558bf9ba74064e19355193b1a194ce5d6cb703e2d5680b51f5fc45f4c4253901f3fc5e2b8e3688d7225babca0c8b0804aa5373',
  );
  expect(standardSignature(['a', 'b'], 'id', 1, 'x').split(' ')).toHaveLength(2);
});

describe('enablement', () => {
  const none: Enablement = { type: 'none' };
  const enabled: Enablement = { type: 'enabled' };
  const disabled: Enablement = { type: 'disabled' };
  const changing: Enablement = { type: 'verifying', from: 'disabled', purpose: 'change' };
  const looking: Enablement = { type: 'verifying', from: 'disabled', purpose: 'verify' };
  test.each<[Enablement, EnablementEvent, Enablement['type'] | null, readonly string[]]>([
    [none, { type: 'create', enabled: true, probes: true }, 'verifying', ['send_verification']],
    [none, { type: 'create', enabled: true, probes: false }, 'enabled', ['save_changes']],
    [none, { type: 'create', enabled: false, probes: false }, 'disabled', ['save_changes']],
    [disabled, { type: 'update', enabled: true, probes: true }, 'verifying', ['send_verification']],
    [enabled, { type: 'update', enabled: true, probes: true }, 'verifying', ['send_verification']],
    [enabled, { type: 'update', enabled: false, probes: false }, 'disabled', ['save_changes']],
    [enabled, { type: 'update', enabled: true, probes: false }, 'enabled', ['save_changes']],
    [changing, { type: 'answered', successful: true }, 'enabled', ['save_changes', 'store_response']],
    [changing, { type: 'answered', successful: false }, 'disabled', ['reject']],
    [changing, { type: 'unanswered' }, 'disabled', ['reject']],
    [disabled, { type: 'verify' }, 'verifying', ['send_verification']],
    [looking, { type: 'answered', successful: true }, 'disabled', ['store_response']],
    [looking, { type: 'answered', successful: false }, 'disabled', ['store_response', 'reject']],
    [looking, { type: 'unanswered' }, 'disabled', ['reject']],
    [none, { type: 'verify' }, null, []],
    [none, { type: 'update', enabled: true, probes: true }, null, []],
    [enabled, { type: 'create', enabled: true, probes: true }, null, []],
    [enabled, { type: 'answered', successful: true }, null, []],
    [enabled, { type: 'unanswered' }, null, []],
  ])('%j, %j → %s', (current, event, next, effects) => {
    const step = transitionEnablement(current, event);
    expect(step.isOk() ? step.value.next.type : null).toBe(next);
    expect(step.isOk() ? step.value.effects : []).toEqual(effects);
  });
});

describe('failures by destination', () => {
  test.each<[DestinationKind, number, string, string | null, boolean]>([
    ['generic', 204, '', null, false],
    ['generic', 302, '', 'redirect', false],
    ['generic', 400, '', 'client_error', false],
    ['generic', 410, '', 'gone', true],
    ['generic', 429, '', 'rate_limited', false],
    ['generic', 500, '', 'server_error', false],
    ['chat-a', 200, 'ok', null, false],
    ['chat-a', 400, 'invalid_payload', 'client_error', true],
    ['chat-a', 403, '', 'client_error', true],
    ['chat-a', 404, 'no_service', 'client_error', true],
    ['chat-a', 410, '', 'gone', true],
    ['chat-a', 429, '', 'rate_limited', false],
    ['chat-a', 500, 'rollup_error', 'server_error', false],
    ['chat-b', 202, '', null, false],
    ['chat-b', 200, '1', null, false],
    ['chat-b', 200, 'Webhook message delivery failed with error: HTTP error 429', 'answered_with_error', false],
    ['chat-b', 200, 'Webhook message delivery failed with error: HTTP error 413', 'answered_with_error', true],
    ['chat-b', 401, '', 'client_error', true],
  ])('%s %i %s', (kind, status, body, expected, permanent) => {
    const failure = classifyAnswer(kind, status, body);
    expect(failure?.class ?? null).toBe(expected);
    expect(failure?.permanent ?? false).toBe(permanent);
  });
  test.each([
    ['name_not_resolved', false],
    ['connection_reset', false],
    ['total_timeout', false],
    ['tls_failed', false],
    ['address_forbidden', false],
    ['invalid_url', true],
    ['mail_rejected', true],
    ['mail_unavailable', false],
    ['secret_unreadable', false],
  ] as const)('%s permanent: %s', (type, permanent) => {
    expect(classifySilence({ type, message: 'm' })).toEqual({ class: type, permanent, message: 'm' });
  });
});

describe('retry schedule', () => {
  const rules = { waits: [1000, 2000], jitter: 0.2, maximumRetryAfter: 10_000 };
  test.each<[number, number, number | null, number | null]>([
    [1, 0.5, null, 1000],
    [1, 0, null, 800],
    [2, 1, null, 2400],
    [3, 0.5, null, null],
    [1, 0.5, 500, 1000],
    [1, 0.5, 5000, 5000],
    [1, 0.5, 60_000, 10_000],
    [3, 0.5, 5000, null],
  ])('after %i attempts, fraction %d, asked %s', (attempted, fraction, asked, wait) => {
    expect(nextAttemptAt(rules, attempted, { at: 100, fraction }, asked)).toBe(wait === null ? null : 100 + wait);
  });
  test.each<[string | undefined, number | null]>([
    [undefined, null],
    ['', null],
    ['30', 30_000],
    ['9999999999', 9_999_999_999_000],
    ['1.5', 1500],
    ['-5', null],
    ['soon', null],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
    ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
    ['9'.repeat(80), null],
  ])('Retry-After: %s', (value, expected) => {
    expect(parseRetryAfter(value, Date.UTC(2026, 0, 2, 3, 4, 5))).toBe(expected);
  });
});

test('the breaker opens, lets one through, closes or waits longer', () => {
  const rules = { failures: 2, pause: 30, maximumPause: 100 };
  const once = afterFailure(closedBreaker, rules, 0);
  expect(breakerAllows(once, 0)).toBe('all');
  const open = afterFailure(once, rules, 0);
  expect(open).toEqual({ type: 'open', since: 0, until: 30, pause: 30 });
  expect([breakerAllows(open, 29), breakerAllows(open, 30)]).toEqual(['none', 'one']);
  expect(afterFailure(open, rules, 10)).toBe(open);
  const longer = afterFailure(open, rules, 30);
  expect(longer).toEqual({ type: 'open', since: 0, until: 90, pause: 60 });
  expect(afterFailure(longer, rules, 90)).toEqual({ type: 'open', since: 0, until: 190, pause: 100 });
  expect(afterSuccess(longer)).toBe(closedBreaker);
  expect(afterFailure(closedBreaker, { ...rules, failures: 0 }, 0)).toBe(closedBreaker);
});

test('an endless rate is no limit', () => {
  const rate = perSecond(Number.POSITIVE_INFINITY);
  const bucket = refilled(undefined, rate, 0);
  expect(startsAt(bucket, rate)).toBe(0);
  expect(startsAt(refilled(drawn(bucket), rate, 0), rate)).toBe(0);
});

test('the bucket gives a second at once and then its rate', () => {
  let bucket: TokenBucket | undefined;
  const take = (now: number) => {
    const left = refilled(bucket, perSecond(2), now);
    const at = startsAt(left, perSecond(2));
    bucket = at > now ? left : drawn(left);
    return at > now ? at : 'taken';
  };
  const taken = [take(0), take(0), take(0), take(499), take(500), take(500)];
  expect(taken).toEqual(['taken', 'taken', 500, 500, 'taken', 1000]);
  // A clock that was set back: the whole wait from there.
  expect(take(400)).toBe(900);
});

describe('a delivery', () => {
  const waiting = { type: 'waiting', dueAt: 5, attempted: 1 } as const;
  const dead = { type: 'dead', at: 1, reason: 'exhausted' } as const;
  test('moves through its life', () => {
    const failed = { type: 'attempt_failed', at: 7, permanent: false, nextAt: 9 } as const;
    expect(transitionDelivery(waiting, failed)._unsafeUnwrap()).toEqual({ type: 'waiting', dueAt: 9, attempted: 2 });
    expect(transitionDelivery(waiting, { ...failed, nextAt: null })._unsafeUnwrap()).toMatchObject({
      reason: 'exhausted',
    });
    expect(transitionDelivery(waiting, { ...failed, permanent: true })._unsafeUnwrap()).toMatchObject({
      reason: 'permanent',
    });
    expect(transitionDelivery(waiting, { type: 'attempt_delivered', at: 7, partly: false })._unsafeUnwrap().type).toBe(
      'delivered',
    );
    expect(transitionDelivery(dead, failed).isErr()).toBe(true);
    expect(transitionDelivery(dead, { type: 'attempt_delivered', at: 7, partly: false }).isErr()).toBe(true);
    const reason = 'configuration_disabled';
    expect(transitionDelivery(dead, { type: 'cancelled', at: 7, reason }).isErr()).toBe(true);
  });
  test('a failed redelivery leaves everything as it was', () => {
    for (const before of [waiting, dead]) {
      const manual = transitionDelivery(before, { type: 'redelivery_requested', at: 6 })._unsafeUnwrap();
      expect(manual.type).toBe('manual');
      const failed = { type: 'attempt_failed', at: 7, permanent: true, nextAt: null } as const;
      expect(transitionDelivery(manual, failed)._unsafeUnwrap()).toEqual(before);
      expect(transitionDelivery(manual, { type: 'attempt_delivered', at: 8, partly: false })._unsafeUnwrap()).toEqual({
        type: 'delivered',
        at: 8,
      });
      expect(transitionDelivery(manual, { type: 'redelivery_requested', at: 9 })._unsafeUnwrap()).toEqual(manual);
    }
  });
});

test('run statuses', () => {
  expect(notificationForRunStatus('errored', false)).toEqual({ trigger: 'run:errored', message: 'Run Errored' });
  expect(notificationForRunStatus('canceled', false)?.message).toBe('Run Canceled');
  expect(notificationForRunStatus('planned', false)).toBeNull();
  expect(notificationForRunStatus('planned', true)?.trigger).toBe('run:needs_attention');
  expect(notificationForRunStatus('discarded', true)).toBeNull();
  expect(notificationForRunStatus('toString', true)).toBeNull();
});

test('what destinations send is kept without credentials', () => {
  const headers = { 'set-cookie': ['a=1', 'b=2'], date: ['now'] };
  expect(redactHeaders(headers)).toEqual({ 'set-cookie': ['[redacted]', '[redacted]'], date: ['now'] });
  expect(withoutUserinfo('https://u:p@h.example/x?y')).toBe('https://h.example/x?y');
  expect(withoutUserinfo('https://h.example')).toBe('https://h.example');
});

describe('events from outside', () => {
  test('a run event with defaults', () => {
    const read = eventFromAttributes({ trigger: 'run:errored', run_id: 'run-1', run_status: 'canceled', other: {} });
    expect(read._unsafeUnwrap()).toMatchObject({
      idempotencyKey: null,
      event: { kind: 'run', message: 'Run Canceled', runUrl: null, speculative: false },
    });
  });
  test.each(['', ' \n'])('a blank message is one that is left out: %j', (message) => {
    for (const [attributes, expected] of [
      [{ trigger: 'run:errored', run_id: 'run-1', run_status: 'canceled' }, 'Run Canceled'],
      [{ trigger: 'workspace:auto_destroy_run_results' }, 'Auto Destroy Results'],
    ] as const) {
      const read = eventFromAttributes({ ...attributes, message });
      expect(read._unsafeUnwrap().event.message).toBe(expected);
    }
  });
  test('the alias of a trigger is the trigger', () => {
    const read = eventFromAttributes({ trigger: 'workspace:auto_destroy_reminder', idempotency_key: 'k' });
    expect(read._unsafeUnwrap()).toMatchObject({
      idempotencyKey: 'k',
      event: { kind: 'auto_destroy', trigger: 'workspace:auto_destro_reminder', message: 'Auto Destroy Reminder' },
    });
  });
  test.each<[string, Record<string, unknown>, readonly string[]]>([
    ['nothing', {}, ['/trigger']],
    ['an unknown trigger', { trigger: 'run:exploded' }, ['/trigger']],
    ['a wrong type', { trigger: 7 }, ['/trigger']],
    ['the name of a built-in', { trigger: 'constructor' }, ['/trigger']],
    ['no run', { trigger: 'run:created' }, ['/run_id']],
    [
      'several faults',
      { trigger: 'run:created', run_id: 'r', run_created_at: 'yesterday', speculative: 'yes', run_message: 5 },
      ['/run_message', '/run_created_at', '/speculative'],
    ],
    ['no assessment', { trigger: 'assessment:drifted' }, ['/new_assessment_result']],
    [
      'a faulty assessment',
      { trigger: 'assessment:drifted', new_assessment_result: { id: 'a', url: 'u', checks_failed: '1' } },
      ['/new_assessment_result/checks_failed', '/new_assessment_result/created_at'],
    ],
    [
      'an array for an object',
      { trigger: 'assessment:drifted', new_assessment_result: [] },
      ['/new_assessment_result'],
    ],
    ['too long', { trigger: 'run:created', run_id: 'r', message: 'x'.repeat(65_537) }, ['/message']],
    ['an empty key', { trigger: 'run:created', run_id: 'r', idempotency_key: '' }, ['/idempotency_key']],
  ])('%s is refused at its pointer', (_name, attributes, pointers) => {
    const faults = eventFromAttributes(attributes)._unsafeUnwrapErr().faults;
    expect(faults.map((fault) => fault.pointer).sort()).toEqual(pointers.map((it) => `/data/attributes${it}`).sort());
  });
});

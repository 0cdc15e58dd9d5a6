import fc from 'fast-check';
import type { NotificationEvent } from '../../../src/notifications/events/event.js';
import type { MessageContext } from '../../../src/notifications/payloads/message-outline.js';
import { messageContext, type Occasion } from '../../../src/notifications/payloads/render-payload.js';
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

export const recipient = { userId: 'user-V3R563qtJNcExAkN', username: 'dana', email: 'dana@example.org' };

export function contextOf(event: NotificationEvent | null, where: Partial<typeof workspace> = {}): MessageContext {
  const occasion: Occasion =
    event === null ? { type: 'verification' } : { type: 'event', event, workspace: { ...workspace, ...where } };
  return messageContext(configuration, occasion, endpoint, 'nd-1');
}

/** A person with a picture, as hosts with an account system have. */
export const runWithAvatar = { ...runEvent, runCreatorAvatarUrl: 'https://tf.example.net/avatars/dana.png' };

/** One of each kind of message; the names are those of the golden files. */
export const messages: readonly (readonly [string, MessageContext])[] = [
  ['verification', contextOf(null)],
  ['run', contextOf(runWithAvatar)],
  [
    'run-unknowns',
    contextOf({
      ...runEvent,
      trigger: 'run:errored',
      message: 'Run Errored',
      runUrl: null,
      runMessage: null,
      runCreatedAt: null,
      runCreatedBy: null,
      runStatus: null,
      runUpdatedAt: null,
    }),
  ],
  ['assessment-drifted', contextOf(assessmentEvent)],
  [
    'assessment-checks',
    contextOf({
      ...assessmentEvent,
      trigger: 'assessment:check_failure',
      message: 'Checks Failed',
      newAssessmentResult: { ...assessmentResult, checks_failed: 2, checks_unknown: 1 },
    }),
  ],
  [
    'assessment-failed',
    contextOf({ ...assessmentEvent, trigger: 'assessment:failed', message: 'Health Assessment Failed' }),
  ],
  ['auto-destroy-reminder', contextOf(reminderEvent)],
  ['auto-destroy-results', contextOf(resultsEvent)],
  [
    'auto-destroy-results-failed',
    contextOf({
      ...resultsEvent,
      runCreatedAt: null,
      runStatus: null,
      runExternalId: null,
      runCreateErrorMessage: 'The workspace is locked\nby dana',
    }),
  ],
  [
    'hostile',
    contextOf(
      {
        ...runWithAvatar,
        message: '<!channel> Run *Errored* @here',
        runMessage:
          'Click [here](https://evil.example) <https://evil.example|acme> <@U012345> @channel\r\nSubject: x\u0000\u202e &lt; {{DATE(2020-01-01T00:00:00Z)}} <at>dana</at> <script>alert("1")</script>',
        runCreatedBy: '<b>"dana"</b>\r\nBcc: all@example.org',
        runUrl: 'javascript:alert(1)',
        runCreatorAvatarUrl: 'https://tf.example.net/a.png?x=1&y="><b>|)',
      },
      { name: 'net](https://evil.example)', url: 'https://user:secret@tf.example.net/' },
    ),
  ],
];

/** Pieces that mean something to one of the services, beside what fast-check thinks of. */
const pieces = [
  '<!channel>',
  '<!here|x>',
  '<@U1>',
  '<#C1>',
  '<https://evil.example|acme>',
  '<at>all</at>',
  '@here',
  '@channel ',
  '](',
  '[a](https://evil.example)',
  '![a](https://evil.example)',
  '<https://evil.example>',
  '&lt;!here&gt;',
  '&#60;at&#62;',
  '{{DATE(2020-01-01T00:00:00Z)}}',
  '<img src=x onerror=alert(1)>',
  '</td></table>',
  '"\'`*_~\\',
  '\r\nBcc: all@example.org\r\n\r\n',
  '\u0000\u001b\u2028\u202e',
  '\ud800',
  '👨‍👩‍👧‍👦',
  'e\u0301\u0323',
  '漢字',
];

const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 6 })), { maxLength: 12 })
  .map((parts) => parts.join(''));

const longText = fc
  .tuple(fc.constantFrom(...pieces, 'x', '\u0001', '\\', '\u3042'), fc.integer({ min: 1, max: 30_000 }))
  .map(([piece, length]) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length));

const text = fc.oneof({ weight: 4, arbitrary: hostileText }, { weight: 1, arbitrary: longText });
const address = fc.oneof(
  fc.constant(null),
  text,
  hostileText.map((tail) => `https://tf.example.net/${tail}`),
  hostileText.map((tail) => `javascript:${tail}`),
);
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const time = fc.oneof(fc.constant('2026-01-02T03:04:05.000Z'), fc.constant('2026-01-02T03:04:05+02:00'), text);

const anyEvent: fc.Arbitrary<NotificationEvent> = fc.oneof(
  fc.record({
    kind: fc.constant('run' as const),
    trigger: fc.constantFrom('run:created' as const, 'run:needs_attention' as const, 'run:errored' as const),
    message: text,
    runId: text,
    runUrl: address,
    runMessage: some(text),
    runCreatedAt: some(time),
    runCreatedBy: some(text),
    runStatus: some(text),
    runUpdatedAt: some(time),
    runUpdatedBy: some(text),
    speculative: fc.constant(false),
    runCreatorAvatarUrl: address,
  }),
  fc.record({
    kind: fc.constant('assessment' as const),
    trigger: fc.constantFrom('assessment:drifted' as const, 'assessment:check_failure' as const),
    message: text,
    newAssessmentResult: fc.constant(assessmentResult),
    priorAssessmentResult: fc.constant(null),
  }),
  fc.record({
    kind: fc.constant('auto_destroy' as const),
    trigger: fc.constantFrom('workspace:auto_destro_reminder' as const, 'workspace:auto_destroy_run_results' as const),
    message: text,
    autoDestroyAt: some(time),
    runCreatedAt: some(time),
    runStatus: some(text),
    runExternalId: some(text),
    runCreateErrorMessage: some(text),
  }),
  fc.record({
    kind: fc.constant('custom' as const),
    trigger: fc.constant('order.created'),
    message: text,
    occurredAt: fc.constant('2026-01-02T03:04:05.000Z'),
    data: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean(), address), { maxKeys: 12 }),
    orderKey: fc.constant(null),
    body: fc.constantFrom('envelope' as const, 'data' as const),
  }),
);

/** An event of a type of the host's, with this data. */
export const eventWith = (data: Readonly<Record<string, unknown>>): NotificationEvent => ({
  kind: 'custom',
  trigger: 'order.created',
  message: 'An order',
  data,
  orderKey: null,
  occurredAt: '2026-01-02T03:04:05.000Z',
  body: 'envelope',
});

/** Any event at all in a workspace and a configuration with any names. */
export const anyContext: fc.Arbitrary<MessageContext> = fc.record({
  configuration: fc.record({ id: text, name: text, url: address.map((it) => it ?? '') }),
  workspace: some(fc.record({ id: text, name: text, organization: text, url: address.map((it) => it ?? '') })),
  subject: fc.oneof(anyEvent, fc.constant({ kind: 'verification' as const })),
  deliveryId: fc.constant('nd-1'),
});

/** Every string in a JSON value. */
export function* stringsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const each of value) yield* stringsOf(each);
  else if (typeof value === 'object' && value !== null) yield* stringsOf(Object.values(value));
}

import type { FailureClass } from '../../src/notifications/delivery/classify-failure.js';
import type { Obstacle } from '../../src/notifications/events/event.js';
import type { Explanation } from '../../src/notifications/explain.js';
import type { StateMark } from '../job-rules.js';
import type { ConfigurationView, DeliverySummary } from '../screens/notify/answers.js';
import { counted, durationText } from './durations.js';

/* States of notifications, as people read them. Names of kinds and triggers that are not listed are shown as they are. */

export interface StateWords {
  readonly mark: StateMark;
  readonly word: string;
  /** What follows from it, in a few words; may be empty. */
  readonly detail: string;
}

export const kindNames: Readonly<Record<ConfigurationView['kind'], string>> = {
  generic: 'Webhook',
  'chat-a': 'Slack',
  'chat-b': 'Microsoft Teams',
  email: 'E-mail',
};

/** Where a configuration sends: the host of its URL, or its recipients. */
export function destinationText({ kind, url, users }: Pick<ConfigurationView, 'kind' | 'url' | 'users'>): string {
  if (kind === 'email') return users.length === 0 ? 'no recipients' : counted(users.length, 'recipient');
  if (url === null) return 'unreadable: its key is missing';
  return URL.canParse(url) ? new URL(url).host : url;
}

/** How a configuration fares. Of what it may be, the first that applies: off, paused, blocked, failing, trying again, working. */
export function healthWords(
  { enabled, kind, response, health }: Pick<ConfigurationView, 'enabled' | 'kind' | 'response' | 'health'>,
  lastStatus: number | null | undefined,
  now: number,
): StateWords {
  const waiting = health.backlog > 0 ? [`${health.backlog >= 1000 ? 'over 1,000' : health.backlog} wait`] : [];
  const since = (time: string | null): string[] =>
    time === null ? [] : [`for ${durationText(Math.max(1000, now - Date.parse(time)))}`];
  const words = (mark: StateMark, word: string, details: readonly string[]): StateWords => ({
    mark,
    word,
    detail: details.join(', '),
  });
  if (!enabled) {
    const reason = kind === 'email' || response?.successful === true ? [] : ['not verified'];
    return words('off', 'Off', reason);
  }
  if (health.paused) return words('waiting', 'Paused', waiting);
  if (health.hinderedBy !== null)
    return words('failed', 'Blocked', [failureName(health.hinderedBy), ...since(health.hinderedSince), ...waiting]);
  const answered = lastStatus == null || lastStatus < 300 ? [] : [`last answer ${lastStatus}`];
  if (health.breaker !== 'closed') {
    const next = health.nextProbeAt === null ? Number.NaN : Date.parse(health.nextProbeAt);
    const retry = next > now ? `next try in ${durationText(next - now)}` : 'next delivery is a trial';
    const times = since(health.failingSince ?? health.breakerSince);
    return words('failed', 'Failing', [...times, ...answered, ...waiting, retry]);
  }
  if (health.failingSince !== null)
    return words('degraded', 'Unsteady', [
      ...(health.failures > 0 ? [counted(health.failures, 'failure') + ' in a row'] : []),
      ...since(health.failingSince),
      ...answered,
      ...waiting,
    ]);
  return words('good', 'Working', waiting);
}

/** Worst first: the order in which a workspace names its configurations. */
const severity: readonly StateMark[] = ['failed', 'degraded', 'waiting', 'good', 'off'];

/** The configurations of a workspace in one line: `1 failing, 2 working`. */
export function summaryWords(all: readonly StateWords[]): StateWords {
  if (all.length === 0) return { mark: 'off', word: 'No configurations', detail: '' };
  const mark = severity.find((each) => all.some((words) => words.mark === each)) ?? 'off';
  const counts = new Map<string, number>();
  for (const each of severity)
    for (const words of all) if (words.mark === each) counts.set(words.word, (counts.get(words.word) ?? 0) + 1);
  const word = [...counts].map(([name, count]) => `${count} ${name.toLowerCase()}`).join(', ');
  return { mark, word, detail: '' };
}

interface FailureWords {
  readonly name: string;
  /** What to do about it. */
  readonly remedy: string;
}

const failures: Readonly<Record<FailureClass, FailureWords>> = {
  invalid_url: { name: 'invalid address', remedy: 'Correct the URL of the configuration.' },
  address_forbidden: {
    name: 'address not allowed',
    remedy:
      'Requests go to public addresses only. The operator allows a private network by its range: --allow-outbound 10.0.0.0/8 of signalbox serve, or the option allow of undiciDelivery.',
  },
  name_not_resolved: { name: 'unknown host name', remedy: 'Check the host of the URL, and the name server.' },
  connect_failed: { name: 'could not connect', remedy: 'Check host and port of the URL, and that the service runs.' },
  connect_timeout: {
    name: 'no connection in time',
    remedy: 'A firewall may drop the packets; check host and port of the URL.',
  },
  tls_failed: {
    name: 'TLS failed',
    remedy: 'Check the certificate of the destination: its names, its end, and its issuer.',
  },
  connection_reset: { name: 'connection was reset', remedy: 'The destination ended the connection; see its log.' },
  total_timeout: {
    name: 'no answer in time',
    remedy: 'The destination should answer at once and work later; or raise the timeout of the configuration.',
  },
  invalid_response: { name: 'invalid HTTP response', remedy: 'Something other than an HTTP server answers there.' },
  aborted: { name: 'interrupted by the server', remedy: 'The server was stopping; the delivery is tried again.' },
  proxy_failed: {
    name: 'the proxy failed',
    remedy: 'The fault is on the side of Signalbox: its operator checks the proxy.',
  },
  redirect: { name: 'redirected', remedy: 'Redirects are not followed: enter the final URL.' },
  client_error: {
    name: 'refused the request',
    remedy: 'The destination does not accept it: check path, token and headers.',
  },
  gone: { name: 'gone for good', remedy: 'The destination says that it does not exist any more.' },
  rate_limited: { name: 'too many requests', remedy: 'Lower the rate of the configuration.' },
  server_error: { name: 'failed with a server error', remedy: 'See the log of the destination.' },
  answered_with_error: { name: 'reported an error', remedy: 'The answer has the error in its body.' },
  mail_rejected: { name: 'mail refused', remedy: 'Check the addresses of the recipients.' },
  mail_unavailable: {
    name: 'mail server unavailable',
    remedy: 'The operator checks the mail server: --smtp of signalbox serve, or the option mailer.',
  },
  secret_unreadable: {
    name: 'secret unreadable',
    remedy: 'The key that encrypted the URL or the token is missing: the operator restores it.',
  },
  transform_failed: { name: 'the transform failed', remedy: 'The fault is in the function transform of the host.' },
};

function isFailureClass(name: string): name is FailureClass {
  return Object.hasOwn(failures, name);
}

/** The class of a failure in a few words. */
export function failureName(name: string): string {
  return isFailureClass(name) ? failures[name].name : name.replaceAll('_', ' ');
}

/** What to do about a failure; empty for an unknown class. */
export function failureRemedy(name: string): string {
  return isFailureClass(name) ? failures[name].remedy : '';
}

type Wait = NonNullable<DeliverySummary['waitsFor']>;

const waits: Readonly<Record<Wait['reason'], string>> = {
  paused: 'the configuration is paused; resume it to send',
  retry: 'the last try failed; the next one follows the schedule',
  breaker: 'the destination failed repeatedly; nothing is sent to it until then',
  order: 'an earlier notification of the same run is not finished',
  rate: 'the rate limit of the destination',
  queue: 'others are before it',
  engine: 'no server works on deliveries',
};

const waitNames: Readonly<Record<Wait['reason'], string>> = {
  paused: 'paused',
  retry: 'after a failed try',
  breaker: 'destination is failing',
  order: 'behind an earlier one of its run',
  rate: 'rate limit',
  queue: 'in the queue',
  engine: 'no server sends',
};

/** Why a delivery waits, as the end of a sentence. */
export function waitText({ reason }: Wait): string {
  return waits[reason];
}

const endings: Readonly<Record<string, string>> = {
  exhausted: 'every try of the schedule failed',
  permanent: 'the failure is permanent, so it was not tried again',
  expired: 'it was too old to be sent',
  configuration_disabled: 'the configuration was disabled',
  configuration_deleted: 'the configuration was deleted',
  no_recipients: 'there were no recipients',
  content_erased: 'the content of the event was erased',
};

const outcomes: Readonly<Record<DeliverySummary['outcome'], readonly [StateMark, string]>> = {
  pending: ['waiting', 'Waiting'],
  delivered: ['good', 'Delivered'],
  partly_delivered: ['degraded', 'Partly delivered'],
  dead: ['failed', 'Given up'],
  cancelled: ['off', 'Cancelled'],
};

/** How a delivery ended, or why it waits. */
export function outcomeWords({
  outcome,
  reason = null,
  waitsFor = null,
}: Pick<DeliverySummary, 'outcome'> & Partial<Pick<DeliverySummary, 'reason' | 'waitsFor'>>): StateWords {
  const [mark, word] = outcomes[outcome];
  if (waitsFor !== null) return { mark, word, detail: waitNames[waitsFor.reason] };
  return { mark, word, detail: reason === null ? '' : (endings[reason] ?? reason.replaceAll('_', ' ')) };
}

/** What one more try does to a delivery as it is now. */
export function redeliveryText({ outcome, waitsFor }: Pick<DeliverySummary, 'outcome' | 'waitsFor'>): string {
  const same = 'It has the same event ID, so that the receiver can recognise a repetition.';
  if (outcome !== 'pending')
    return `Sends it once more, now. ${same} If the try fails, the delivery stays ${outcomes[outcome][1].toLowerCase()}.`;
  const early =
    waitsFor?.reason === 'paused'
      ? 'although the configuration is paused'
      : waitsFor?.reason === 'breaker'
        ? 'although the destination is failing'
        : 'ahead of the others';
  return `Makes one extra try now, ${early}. If it succeeds, no further one follows; if it fails, the schedule continues as before. ${same}`;
}

interface ObstacleWords {
  readonly words: string;
  /** The field or setting that changes it. */
  readonly field: string;
  /** What the page can do about it. */
  readonly fix?: 'enable' | 'trigger' | 'filter' | 'recipients';
}

const obstacles: Readonly<Record<Obstacle, ObstacleWords>> = {
  speculative_run: { words: 'speculative runs notify nobody', field: 'the run: speculative' },
  local_execution: { words: 'workspaces that run locally notify nobody', field: 'the workspace: execution-mode' },
  feature_off: {
    words: 'the workspace does not have health assessments',
    field: 'the workspace: drift-detection or health-assessments',
  },
  disabled: { words: 'it is off', field: 'enabled', fix: 'enable' },
  trigger_off: { words: 'it does not ask for this trigger', field: 'triggers', fix: 'trigger' },
  filtered: { words: 'its filter excludes the event', field: 'delivery.filter', fix: 'filter' },
  no_recipients: { words: 'it has no recipients', field: 'users', fix: 'recipients' },
  about_itself: { words: 'the event is about this configuration', field: 'none: use another configuration' },
};

/** An obstacle in words, the field that changes it, and what can be done. */
export function obstacleWords(obstacle: Obstacle): ObstacleWords {
  return obstacles[obstacle];
}

/** The configurations of an event, as they are now and as they were when it was accepted; null if that is not known. */
export interface Named<T = Pick<Explanation, 'configurationId' | 'name'>> {
  readonly explanations: readonly T[];
  readonly explanationsAtAcceptance: readonly T[] | null;
}

interface Explained extends Named<Explanation> {
  readonly deliveries: readonly { readonly configurationId: string }[];
}

interface NotNotified {
  readonly configurationId: string;
  readonly name: string;
  /** Why it was not notified when the event was accepted; if that is not known, why it would not be now. */
  readonly reason: string;
  /** What is different now; empty if nothing is. */
  readonly now: string;
}

/** The names of the configurations of an event, by ID: as they are now, or as they were when it was accepted. */
export function namesOf({ explanations, explanationsAtAcceptance }: Named): ReadonlyMap<string, string> {
  const all = [...(explanationsAtAcceptance ?? []), ...explanations];
  return new Map(all.map(({ configurationId, name }) => [configurationId, name]));
}

const reasonOf = ({ obstacles: all }: Explanation): string => all.map((each) => obstacles[each].words).join('; ');

/** The configurations that were not notified of an event: those of then, and those that were made later. */
export function notNotified({ deliveries, explanations, explanationsAtAcceptance: then }: Explained): NotNotified[] {
  const notified = new Set(deliveries.map(({ configurationId }) => configurationId));
  const isMissed = ({ configurationId }: Explanation): boolean => !notified.has(configurationId);
  const present = new Map(explanations.map((each) => [each.configurationId, each]));
  const known = new Set(then?.map(({ configurationId }) => configurationId));
  const later = explanations.filter((each) => isMissed(each) && !known.has(each.configurationId));
  return [
    ...(then ?? []).filter(isMissed).map((each) => {
      const { configurationId, name } = each;
      const now = present.get(configurationId);
      const [reason, reasonNow] = [reasonOf(each), now && reasonOf(now)];
      const words =
        reasonNow === undefined
          ? 'it was deleted since'
          : reasonNow === ''
            ? 'now it would be notified'
            : `now: ${reasonNow}`;
      return { configurationId, name: now?.name ?? name, reason, now: reason === reasonNow ? '' : words };
    }),
    ...later.map((each) => {
      const { configurationId, name } = each;
      const unknown = reasonOf(each) || 'it would be notified now, but was not when the event was accepted';
      return { configurationId, name, reason: then === null ? unknown : 'it was made later', now: '' };
    }),
  ];
}

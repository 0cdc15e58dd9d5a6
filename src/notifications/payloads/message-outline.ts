import { type Instant, instantFromRfc3339 } from '../../shared/instant.js';
import type {
  AssessmentEvent,
  AutoDestroyEvent,
  CustomEvent,
  NotificationEvent,
  RunEvent,
  RunFailure,
} from '../events/event.js';
import { linkFrom, onOneLine, onSeveralLines, outputLines } from './text.js';

/** The content of a message, independent of its format. Strings, titles included, have no control characters, and are neither escaped nor cut. */
export interface MessageOutline {
  /** `Run notification for`, before the workspace; the whole of a verification's first line. */
  readonly introduction: string;
  readonly workspace: { readonly label: string; readonly link: string | null } | null;
  /** What happened: `Run Errored`. */
  readonly event: string;
  readonly tone: Tone;
  /** The object of the event, unless it is the workspace. */
  readonly item: { readonly label: string; readonly id: string; readonly link: string | null } | null;
  readonly person: { readonly name: string; readonly avatar: string | null } | null;
  /** The person's message; may have several lines. */
  readonly reason: string | null;
  readonly facts: readonly Fact[];
  /** The last lines that a task printed, each without control characters; null when there are none. */
  readonly output: string | null;
  /** Whether a decision is needed, as a sentence. */
  readonly action: { readonly needed: boolean; readonly sentence: string };
}

export interface Fact {
  /** Never empty. */
  readonly title: string;
  readonly value: string | { readonly at: Instant };
  /** A member of an event's data: its title is the sender's name for it. */
  readonly isMember?: true;
}

export type Tone = 'quiet' | 'attention' | 'progress' | 'success' | 'failure';

/** The contents that chat and e-mail messages share (notification interface, Destinations). */
export function messageOutline({ subject, workspace, configuration }: MessageContext): MessageOutline {
  if (subject.kind === 'verification' || workspace === null) return verificationOutline(configuration);
  const named = {
    label: `${onOneLine(workspace.organization)}/${onOneLine(workspace.name)}`,
    link: linkFrom(workspace.url),
  };
  switch (subject.kind) {
    case 'run':
      return { workspace: named, ...runOutline(subject) };
    case 'assessment':
      return { workspace: named, ...assessmentOutline(subject) };
    case 'auto_destroy':
      return { workspace: named, ...autoDestroyOutline(subject) };
    case 'custom':
      return { workspace: named, ...customOutline(subject) };
  }
}

/** One line with event and place, for notices and for programs without markup. */
export function summaryOf({ introduction, workspace, item, event }: MessageOutline): string {
  if (workspace === null) return introduction;
  return item === null ? `${workspace.label}: ${event}` : `${workspace.label} ${item.id}: ${event}`;
}

/** `2026-01-02 03:04:05 UTC`. */
export function timeText(at: Instant): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

type OutlineInWorkspace = Omit<MessageOutline, 'workspace'>;

function verificationOutline(configuration: MessageContext['configuration']): MessageOutline {
  const name = onOneLine(configuration.name);
  return {
    introduction: `Verification of ${name}`,
    workspace: null,
    event: `Verification of ${name}`,
    tone: 'quiet',
    item: null,
    person: null,
    reason: null,
    facts: [
      { title: 'Configuration', value: name },
      { title: 'ID', value: onOneLine(configuration.id) },
    ],
    output: null,
    action: { needed: false, sentence: 'This is a test: notifications of this configuration arrive here.' },
  };
}

function runOutline(run: RunEvent): OutlineInWorkspace {
  const event = onOneLine(run.message) + endOf(run);
  const id = onOneLine(run.runId);
  const creator = onOneLine(run.runCreatedBy ?? '');
  const job = run.job === undefined ? '' : onOneLine(run.job.id);
  const link = linkFrom(run.runUrl);
  return {
    introduction: 'Run notification for',
    event,
    tone: runTones[run.trigger],
    item: job === '' ? { label: 'Run', id, link } : { label: 'Job', id: job, link },
    person: creator === '' ? null : { name: creator, avatar: linkFrom(run.runCreatorAvatarUrl) },
    reason: onSeveralLines(run.runMessage ?? '') || null,
    facts: [
      { title: 'Event', value: event },
      ...timeFact('Event time', run.runUpdatedAt),
      ...textFact('Job', job),
      ...failureFacts(run.failure),
      ...textFact('Changed by', run.runUpdatedBy),
      { title: 'Run', value: id },
      ...timeFact('Created', run.runCreatedAt),
    ],
    output: outputLines(run.failure?.output ?? '') || null,
    action: runActions[run.trigger],
  };
}

function failureFacts(failure: RunFailure | undefined): Fact[] {
  if (failure === undefined) return [];
  const { group, task, message, allocationId, outputUrl } = failure;
  return [
    ...textFact('Failed task', task === null ? group : `${group}/${task}`),
    ...textFact('Exit', exitOf(failure)),
    ...textFact('Reason', message),
    ...textFact('Allocation', allocationId),
    ...textFact('Output', outputUrl ?? null),
  ];
}

function exitOf({ exitCode, signal }: RunFailure): string | null {
  if (signal !== null) return `signal ${signal}`;
  return exitCode === null ? null : `code ${exitCode}`;
}

/** The outcome of a job's run, appended to the event: `: failed with exit code 3`. */
function endOf({ job, failure }: RunEvent): string {
  const outcome = job?.outcome;
  if (outcome === undefined || outcome.name === 'succeeded') return '';
  const exit = outcome.name !== 'failed' || failure === undefined ? null : exitOf(failure);
  return `: ${outcome.text}${exit === null ? '' : ` with ${exit.replace(/^code/, 'exit code')}`}`;
}

const runTones: Readonly<Record<RunEvent['trigger'], Tone>> = {
  'run:created': 'quiet',
  'run:planning': 'quiet',
  'run:needs_attention': 'attention',
  'run:applying': 'progress',
  'run:completed': 'success',
  'run:errored': 'failure',
};

const continues = { needed: false, sentence: 'No action is needed: the run continues automatically.' };

const runActions: Readonly<Record<RunEvent['trigger'], MessageOutline['action']>> = {
  'run:created': continues,
  'run:planning': continues,
  'run:needs_attention': { needed: true, sentence: 'Action is needed: the run is waiting for a decision.' },
  'run:applying': continues,
  'run:completed': { needed: false, sentence: 'No action is needed: the run is complete.' },
  'run:errored': { needed: false, sentence: 'The run failed. No action is pending.' },
};

function assessmentOutline({ trigger, message, newAssessmentResult: result }: AssessmentEvent): OutlineInWorkspace {
  const event = onOneLine(message);
  const counts: readonly (readonly [string, number])[] =
    trigger === 'assessment:check_failure'
      ? [
          ['Checks failed', result.checks_failed],
          ['Checks with an error', result.checks_errored],
          ['Checks unknown', result.checks_unknown],
          ['Checks passed', result.checks_passed],
        ]
      : [
          ['Resources drifted', result.resources_drifted],
          ['Resources undrifted', result.resources_undrifted],
        ];
  return {
    introduction: 'Health assessment notification for',
    event,
    tone: trigger === 'assessment:drifted' ? 'attention' : 'failure',
    item: null,
    person: null,
    reason: null,
    facts: [
      { title: 'Event', value: event },
      ...timeFact('Event time', result.created_at),
      // A failed assessment has no counts.
      ...(trigger === 'assessment:failed' ? [] : counts.map(([title, count]) => ({ title, value: String(count) }))),
    ],
    output: null,
    action: assessmentActions[trigger],
  };
}

const assessmentActions: Readonly<Record<AssessmentEvent['trigger'], MessageOutline['action']>> = {
  'assessment:drifted': {
    needed: false,
    sentence: 'The resources are no longer as they were configured; nothing waits for a decision.',
  },
  'assessment:check_failure': { needed: true, sentence: 'Action is needed: checks of this workspace fail.' },
  'assessment:failed': { needed: true, sentence: 'Action is needed: the health of this workspace is not known.' },
};

function autoDestroyOutline(destroy: AutoDestroyEvent): OutlineInWorkspace {
  const event = onOneLine(destroy.message);
  const common = { introduction: 'Auto destroy notification for', event, person: null, output: null };
  if (destroy.trigger === 'workspace:auto_destro_reminder') {
    return {
      ...common,
      tone: 'attention',
      item: null,
      reason: null,
      facts: [{ title: 'Event', value: event }, ...timeFact('Destroyed at', destroy.autoDestroyAt)],
      action: {
        needed: true,
        sentence: 'Action is needed if the resources should stay: otherwise they are destroyed at the time below.',
      },
    };
  }
  const failure = onSeveralLines(destroy.runCreateErrorMessage ?? '');
  const id = onOneLine(destroy.runExternalId ?? '');
  const wentWrong = failure !== '' || destroy.runStatus === 'errored' || destroy.runStatus === 'canceled';
  return {
    ...common,
    tone: wentWrong ? 'failure' : 'success',
    item: id === '' ? null : { label: 'Run', id, link: null },
    reason: failure === '' ? null : failure,
    facts: [
      { title: 'Event', value: event },
      ...textFact('Run', id),
      ...textFact('Run status', destroy.runStatus),
      ...timeFact('Created', destroy.runCreatedAt),
    ],
    action: wentWrong
      ? { needed: true, sentence: 'Action is needed: the resources were not destroyed as planned.' }
      : { needed: false, sentence: 'No action is needed.' },
  };
}

/** The most members of the data in a message, in addition to the event and its time. */
const mostMembers = 6;

/** The strings and numbers of the data; `id` and `url`, if present, identify the object of the event. */
function customOutline({ trigger, message, data, occurredAt }: CustomEvent): OutlineInWorkspace {
  const event = onOneLine(message);
  const id = typeof data['id'] === 'string' || typeof data['id'] === 'number' ? onOneLine(String(data['id'])) : '';
  const link = typeof data['url'] === 'string' ? linkFrom(data['url']) : null;
  const shown = Object.entries(data).filter(([name, value]) => isShown(name, value));
  return {
    introduction: 'Notification for',
    event,
    tone: tones.find((tone) => tone === data['tone']) ?? 'quiet',
    item: id === '' && link === null ? null : { label: onOneLine(trigger), id, link },
    person: null,
    reason: typeof data['reason'] === 'string' ? onSeveralLines(data['reason']) || null : null,
    facts: [
      { title: 'Event', value: event },
      ...timeFact('Event time', occurredAt),
      ...shown.slice(0, mostMembers).flatMap(([name, value]) => memberFact(name, String(value))),
    ],
    output: null,
    action: { needed: false, sentence: `This event is of the type ${onOneLine(trigger)}.` },
  };
}

const tones: readonly Tone[] = ['quiet', 'attention', 'progress', 'success', 'failure'];

function isShown(name: string, value: unknown): boolean {
  if (name === 'id' || name === 'url' || name === 'reason' || name === 'tone') return false;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function textFact(title: string, value: string | null): Fact[] {
  const text = onOneLine(value ?? '');
  return text === '' ? [] : [{ title, value: text }];
}

function memberFact(name: string, value: string): Fact[] {
  return textFact(onOneLine(name) || 'unnamed', value).map((fact) => ({ ...fact, isMember: true }));
}

/** No fact for an invalid time: an incomplete message is better than none. */
function timeFact(title: string, value: string | null): Fact[] {
  const at = instantFromRfc3339(value ?? '');
  return at === undefined ? [] : [{ title, value: { at } }];
}

/** The content of a chat or e-mail message. Strings are unescaped user input: the renderer escapes and cuts them. */
export interface MessageContext {
  readonly configuration: {
    readonly id: string;
    readonly name: string;
    /** API address of the configuration. */
    readonly url: string;
  };
  /** Null in a verification, which has no context. */
  readonly workspace: {
    readonly id: string;
    readonly name: string;
    readonly organization: string;
    readonly url: string;
  } | null;
  readonly subject: NotificationEvent | { readonly kind: 'verification' };
  /** The same for all attempts of one delivery; for identifiers inside the message. */
  readonly deliveryId: string;
}

/** The recipient of an e-mail. */
export interface Recipient {
  readonly userId: string;
  readonly username: string;
  readonly email: string;
}

/** A mail without its address. */
export interface RenderedEmail {
  readonly subject: string;
  readonly text: string;
  /** The same content as `text`. */
  readonly html: string;
  /** In addition to those of the mailer. */
  readonly headers: Readonly<Record<string, string>>;
}

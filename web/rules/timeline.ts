import { instantFromUnixNanos } from '../../src/shared/instant.js';
import type { StateMark } from '../job-rules.js';
import { counted, durationText } from './durations.js';
import { causeText, decisionText, failureSentences } from './evaluation-words.js';
import { failureName, type Named, namesOf, outcomeWords, waitText } from './notification-words.js';

/*
 * One list of what happened to a job or a run, from its registration to the answers of the destinations that were notified. It says
 * what records say: what was collected is named as a gap.
 */

/** What a timeline is of. The instance of a run is the end of its ID after the parent, or the number of a run of a job without a parent. */
export type Subject =
  | { readonly type: 'job'; readonly namespace: string; readonly job: string }
  | { readonly type: 'run'; readonly namespace: string; readonly job: string; readonly instance: string }
  | { readonly type: 'event'; readonly workspace: string; readonly event: string };

/** Reads `run:NS/JOB/INSTANCE`, `job:NS/JOB` or `event:WS/NE-…`; a slash within a name is escaped. Undefined for anything else. */
export function subjectOf(text: string): Subject | undefined {
  const [type = '', ...rest] = text.split(':');
  const parts = rest.join(':').split('/').map(decoded);
  if (parts.some((part) => part === undefined || part === '')) return undefined;
  const [first = '', second = '', third = ''] = parts.map((part) => part ?? '');
  if (type === 'job' && parts.length === 2) return { type, namespace: first, job: second };
  if (type === 'run' && parts.length === 3) return { type, namespace: first, job: second, instance: third };
  return type === 'event' && parts.length === 2 ? { type, workspace: first, event: second } : undefined;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

export function subjectText(subject: Subject): string {
  const parts =
    subject.type === 'event'
      ? [subject.workspace, subject.event]
      : [subject.namespace, subject.job, ...(subject.type === 'run' ? [subject.instance] : [])];
  return `${subject.type}:${parts.map(encodeURIComponent).join('/')}`;
}

/** A job by its ID: an instance of another one is a run. */
export function subjectOfJob(namespace: string, id: string): Subject {
  const found = /^(.+)\/((?:dispatch|periodic)-[^/]+)$/s.exec(id);
  return found?.[1] === undefined || found[2] === undefined
    ? { type: 'job', namespace, job: id }
    : { type: 'run', namespace, job: found[1], instance: found[2] };
}

/** The ID of the job that a run belongs to, and the number of the run if several share the job. */
export function jobOfRun(job: string, instance: string): { readonly id: string; readonly number?: number } {
  return /^\d+$/.test(instance) ? { id: job, number: Number(instance) } : { id: `${job}/${instance}` };
}

/** The instance in the address of a run. */
export function instanceOf({ parentId, jobId, number }: Pick<RunRecord, 'parentId' | 'jobId' | 'number'>): string {
  return jobId === parentId ? String(number) : jobId.slice(parentId.length + 1);
}

/** A string in a filter expression: the quote itself has no short escape there. */
export function filterString(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1);
  return `"${escaped.replaceAll(/\\./g, (pair) => (pair === '\\"' ? '\\u0022' : pair))}"`;
}

interface VersionRecord {
  readonly Version: number;
  readonly Stop: boolean;
  readonly ParentID: string;
  readonly Dispatched: boolean;
  /** Unix nanoseconds, as all times of these records that are numbers. */
  readonly SubmitTime: number;
}

interface EvaluationRecord {
  readonly ID: string;
  readonly TriggeredBy: string;
  readonly Status: string;
  readonly StatusDescription?: string;
  readonly DeploymentID?: string;
  readonly WaitUntil?: string;
  readonly FailedTGAllocs?: Readonly<Record<string, Parameters<typeof failureSentences>[0]>>;
  readonly PlanAnnotations?: {
    readonly DesiredTGUpdates: Readonly<Record<string, Parameters<typeof decisionText>[0]>>;
  };
  readonly CreateTime: number;
  readonly ModifyTime: number;
}

interface TaskEventRecord {
  readonly Type: string;
  readonly Time: number;
  readonly DisplayMessage: string;
  readonly FailsTask: boolean;
  readonly ExitCode: number;
  readonly Signal: number;
}

export interface AllocationRecord {
  readonly ID: string;
  readonly EvalID: string;
  readonly Name: string;
  readonly NodeName: string;
  readonly JobVersion: number;
  readonly ClientStatus: string;
  readonly DeploymentStatus: { readonly Healthy: boolean | null; readonly Timestamp: string | null } | null;
  readonly RescheduleTracker: { readonly Events?: readonly { readonly PrevAllocID: string }[] | null } | null;
  readonly TaskStates: Readonly<
    Record<string, { readonly Restarts: number; readonly Events: readonly TaskEventRecord[] | null }>
  > | null;
  readonly CreateTime: number;
  readonly ModifyTime: number;
}

interface DeploymentRecord {
  readonly ID: string;
  readonly JobVersion: number;
  readonly Status: string;
  readonly StatusDescription: string;
  readonly TaskGroups: Readonly<
    Record<
      string,
      {
        readonly DesiredCanaries: number;
        readonly Promoted: boolean;
        readonly PlacedCanaries: readonly string[] | null;
      }
    >
  >;
  readonly CreateTime: number;
  readonly ModifyTime: number;
}

export interface RunRecord {
  readonly namespace: string;
  readonly parentId: string;
  readonly number: number;
  readonly jobId: string;
  readonly version: number;
  readonly outcome: string;
  /** RFC 3339, as all times of runs and notifications. */
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endedAt: string;
  readonly failure?: { readonly allocationId: string; readonly exitCode?: number; readonly message: string };
}

/** An instance that has not ended. */
interface InstanceRecord {
  readonly ID: string;
  readonly SubmitTime: number;
}

/** What is kept of a job, or of one of its runs. */
export interface JobRecords {
  readonly namespace: string;
  readonly id: string;
  /** Whether the job itself exists; if not, only runs are known. */
  readonly exists: boolean;
  readonly versions: readonly VersionRecord[];
  readonly evaluations: readonly EvaluationRecord[];
  readonly allocations: readonly AllocationRecord[];
  readonly deployments: readonly DeploymentRecord[];
  /** Runs that have ended: of the job, or of its instances. */
  readonly runs: readonly RunRecord[];
  /** Those under way, of a job that launches them. */
  readonly instances: readonly InstanceRecord[];
}

interface AttemptRecord {
  readonly number: number;
  readonly manual: boolean;
  readonly startedAt: string;
  /** Milliseconds. */
  readonly total: number;
  readonly status: number | null;
  readonly failure: { readonly class: string } | null;
}

type OutcomeRecord = Parameters<typeof outcomeWords>[0];

export interface EventRecord extends Named {
  readonly id: string;
  readonly workspaceId: string;
  readonly trigger: string;
  readonly message: string;
  readonly sample: boolean;
  readonly createdAt: string;
  readonly erasedAt: string | null;
  readonly attempts: readonly (OutcomeRecord & {
    readonly id: string;
    readonly configurationId: string;
    readonly reason: string | null;
    readonly settledAt: string | null;
    readonly nextAttemptAt: string | null;
    readonly attemptCount: number;
    readonly attempts: readonly AttemptRecord[];
  })[];
}

/** What an entry belongs to, for the choice of what is shown. */
export type Part = 'job' | 'work' | 'notifications';

export interface TimelineEntry {
  readonly key: string;
  /** Milliseconds; infinite for what is expected at an unknown time. */
  readonly at: number;
  readonly part: Part;
  readonly mark: StateMark;
  /** What happened, in a word. */
  readonly word: string;
  /** What happened; contains strings from data. */
  readonly words: string;
  /** The record that says so: its name, and the segments of its address. */
  readonly source: {
    readonly label: string;
    readonly path: readonly string[];
    readonly query?: Readonly<Record<string, string>>;
  };
  /** It has not happened yet. */
  readonly isExpected?: boolean;
}

interface Timeline {
  /** Oldest first; what is expected last. */
  readonly entries: readonly TimelineEntry[];
  /** What is not known any more, as sentences. */
  readonly gaps: readonly string[];
}

interface Told {
  readonly entries: readonly TimelineEntry[];
  readonly gaps: readonly string[];
}

/** The timeline of what is kept. Entries of one millisecond are in the order of cause and effect. */
export function timelineOf({
  job,
  run,
  events,
}: {
  readonly job?: JobRecords | undefined;
  /** The number of the run to which a job without instances is narrowed. */
  readonly run?: number | undefined;
  readonly events: readonly EventRecord[];
}): Timeline {
  const records = job === undefined || run === undefined ? job : narrowed(job, run);
  const told = [...(records === undefined ? [] : toldOfJob(records, run !== undefined)), ...events.map(toldOfEvent)];
  const entries = told.flatMap((each) => each.entries);
  const order = new Map(entries.map((entry, at) => [entry, at]));
  const later = (entry: TimelineEntry): number => (entry.isExpected === true ? 1 : 0);
  return {
    entries: entries.sort(
      (one, other) =>
        later(one) - later(other) ||
        (one.at === other.at ? (order.get(one) ?? 0) - (order.get(other) ?? 0) : one.at - other.at),
    ),
    gaps: [...new Set(told.flatMap(({ gaps }) => gaps))],
  };
}

/** What belongs to one run of a job that was run several times: from its registration, or the end of the run before, to its end. */
export function narrowed(job: JobRecords, number: number): JobRecords {
  const run = job.runs.find((each) => each.number === number);
  if (run === undefined) return { ...job, runs: [] };
  const before = job.runs.find((each) => each.number === number - 1);
  const from = Math.max(Date.parse(run.createdAt), before === undefined ? 0 : Date.parse(before.endedAt) + 1);
  const to = Date.parse(run.endedAt);
  const isWithin = ({ CreateTime }: { readonly CreateTime: number }): boolean =>
    instantFromUnixNanos(CreateTime) >= from && instantFromUnixNanos(CreateTime) <= to;
  return {
    ...job,
    versions: job.versions.filter(({ Version }) => Version === run.version),
    evaluations: job.evaluations.filter(isWithin),
    allocations: job.allocations.filter(isWithin),
    deployments: [],
    runs: [run],
  };
}

function toldOfJob(job: JobRecords, isRun: boolean): readonly Told[] {
  return [
    toldOfVersions(job, isRun),
    toldOfInstances(job),
    ...job.deployments.map((deployment) => beginOf(job, deployment)),
    ...job.deployments.map((deployment) => promotionOf(job, deployment)),
    toldOfEvaluations(job),
    toldOfAllocations(job),
    ...job.deployments.map((deployment) => endOfDeployment(job, deployment)),
    toldOfRuns(job),
  ];
}

const jobPath = ({ namespace, id }: Pick<JobRecords, 'namespace' | 'id'>, ...below: readonly string[]) => [
  'jobs',
  namespace,
  id,
  ...below,
];

function toldOfVersions(job: JobRecords, isRun: boolean): Told {
  const { versions, exists, runs } = job;
  const entries = versions.map(({ Version, Stop, ParentID, Dispatched, SubmitTime }): TimelineEntry => {
    const isInstance = ParentID !== '';
    const [word, words] = isInstance
      ? [Dispatched ? 'dispatched' : 'launched', `${job.id} was ${Dispatched ? 'dispatched' : 'launched'}`]
      : Stop
        ? ['stopped', `The job was stopped (version ${Version})`]
        : ['registered', Version === 0 ? 'The job was registered' : `Version ${Version} was registered`];
    return {
      key: `version:${Version}`,
      at: instantFromUnixNanos(SubmitTime),
      part: 'job',
      mark: Stop ? 'off' : 'running',
      word,
      words,
      source: isInstance
        ? { label: 'job', path: jobPath(job) }
        : { label: `version ${Version}`, path: jobPath(job, 'versions') },
    };
  });
  const oldest = Math.min(...versions.map(({ Version }) => Version));
  const gaps = [
    ...(!exists && runs.length > 0
      ? ['The job was collected, and with it its evaluations and allocations; the records of its runs stay longer.']
      : []),
    ...(!isRun && oldest > 0 && Number.isFinite(oldest) && versions.every(({ ParentID }) => ParentID === '')
      ? [`Versions before ${oldest} are not kept.`]
      : []),
  ];
  return { entries, gaps };
}

function toldOfInstances(job: JobRecords): Told {
  const entries = job.instances.map(
    ({ ID, SubmitTime }): TimelineEntry => ({
      key: `instance:${ID}`,
      at: instantFromUnixNanos(SubmitTime),
      part: 'job',
      mark: 'running',
      word: 'launched',
      words: `${ID} was launched and is under way`,
      source: { label: 'run', path: ['jobs', job.namespace, ID] },
    }),
  );
  return { entries, gaps: [] };
}

const runVerbs: Readonly<Record<string, readonly [StateMark, string]>> = {
  succeeded: ['good', 'succeeded'],
  failed: ['failed', 'failed'],
  stopped: ['off', 'was stopped'],
  timed_out: ['failed', 'took too long'],
  lost: ['lost', 'was lost'],
};

function toldOfRuns(job: JobRecords): Told {
  const { runs, versions, allocations } = job;
  const entries = runs.flatMap((run): readonly TimelineEntry[] => {
    const { parentId, jobId, number, outcome, createdAt, startedAt, endedAt, failure } = run;
    const isOther = jobId !== job.id;
    const [mark, verb] = runVerbs[outcome] ?? ['off', outcome];
    const source = { label: 'run', path: ['runs', run.namespace, parentId, instanceOf(run)] };
    const of = { part: 'job', source } as const;
    const name = jobId === parentId ? `Run ${number}` : jobId;
    const took = startedAt === undefined ? '' : ` after ${durationText(Date.parse(endedAt) - Date.parse(startedAt))}`;
    const isRegistered =
      !isOther && versions.some(({ SubmitTime }) => instantFromUnixNanos(SubmitTime) === Date.parse(createdAt));
    const began: TimelineEntry = {
      ...of,
      key: `began:${jobId} ${number}`,
      at: Date.parse(createdAt),
      mark: 'running',
      word: 'launched',
      words: `${name} was ${jobId === parentId ? 'registered' : 'launched'}`,
    };
    // While its allocations are kept their tasks say it.
    const started: readonly TimelineEntry[] =
      startedAt === undefined || isOther || allocations.length > 0
        ? []
        : [
            {
              ...of,
              key: `started:${jobId} ${number}`,
              at: Date.parse(startedAt),
              part: 'work',
              mark: 'running',
              word: 'started',
              words: 'Its first task started',
            },
          ];
    return [
      ...(isRegistered ? [] : [began]),
      ...started,
      {
        ...of,
        key: `ended:${jobId} ${number}`,
        at: Date.parse(endedAt),
        mark,
        word: outcome.replaceAll('_', ' '),
        words: `${name} ${verb}${took}${exitText(failure)}`,
      },
    ];
  });
  return { entries, gaps: [] };
}

function exitText(failure: RunRecord['failure']): string {
  if (failure === undefined) return '';
  return `${failure.exitCode === undefined ? '' : `, exit code ${failure.exitCode}`}: ${failure.message}`;
}

function evaluationSource(id: string): TimelineEntry['source'] {
  return { label: `evaluation ${id.slice(0, 8)}`, path: ['evaluations', id] };
}

/** Evaluations that decided something, wait or failed; the others changed nothing. */
function toldOfEvaluations({ evaluations }: JobRecords): Told {
  const entries = evaluations.flatMap((evaluation): readonly TimelineEntry[] => {
    const { ID, TriggeredBy, Status, StatusDescription = '', WaitUntil = '' } = evaluation;
    const source = evaluationSource(ID);
    const cause = causeText(TriggeredBy).replace(/^[A-Z]/, (letter) => letter.toLowerCase());
    const entry = (
      at: number,
      [mark, word]: readonly [StateMark, string],
      words: string,
      more: Partial<TimelineEntry> = {},
    ): TimelineEntry => ({ key: `evaluation:${ID} ${word}`, at, part: 'job', mark, word, words, source, ...more });
    const ended = instantFromUnixNanos(evaluation.ModifyTime);
    if (Status === 'pending')
      return WaitUntil === '' || Number.isNaN(Date.parse(WaitUntil))
        ? []
        : [entry(Date.parse(WaitUntil), ['waiting', 'due'], `An evaluation is due: ${cause}`, { isExpected: true })];
    if (Status === 'blocked')
      return [
        entry(instantFromUnixNanos(evaluation.CreateTime), ['waiting', 'waits'], 'It waits until a node may have room'),
      ];
    if (Status === 'failed') return [entry(ended, ['failed', 'failed'], `An evaluation failed: ${StatusDescription}`)];
    const decided = Object.entries(evaluation.PlanAnnotations?.DesiredTGUpdates ?? {}).flatMap(([group, updates]) => {
      const text = decisionText({ ...updates, Ignore: 0 });
      return text === 'nothing to do' ? [] : [`${group}: ${text}`];
    });
    const failed = Object.entries(evaluation.FailedTGAllocs ?? {}).map(
      ([group, metric]) => `No room for ${group}. ${failureSentences(metric).join(' ')}`,
    );
    return [
      ...(decided.length === 0
        ? []
        : [entry(ended, ['running', 'evaluated'], `Evaluated, because ${cause}: ${decided.join('; ')}`)]),
      ...(failed.length === 0 ? [] : [entry(ended, ['waiting', 'no room'], failed.join(' '))]),
    ];
  });
  return { entries, gaps: [] };
}

/** Events of a task that belong to its preparation, or repeat what others say. */
const leftOut = new Set(['Received', 'Task Setup', 'Driver', 'Downloading Artifacts']);
/** So many events are kept of a task. */
const keptEvents = 10;

function toldOfAllocations(job: JobRecords): Told {
  const { allocations, evaluations, deployments } = job;
  const canaries = new Set(
    deployments.flatMap(({ TaskGroups }) =>
      Object.values(TaskGroups).flatMap(({ PlacedCanaries }) => PlacedCanaries ?? []),
    ),
  );
  const known = new Set(allocations.map(({ ID }) => ID));
  const decided = new Set(evaluations.map(({ ID }) => ID));
  const entries: TimelineEntry[] = [];
  const gaps: string[] = [];
  for (const allocation of allocations) {
    const { ID, NodeName, EvalID, RescheduleTracker, DeploymentStatus: health, ClientStatus } = allocation;
    const name = shortName(allocation);
    const of = { part: 'work', source: allocationSource(ID) } as const;
    const previous = RescheduleTracker?.Events?.at(-1)?.PrevAllocID;
    const place = canaries.has(ID) ? ' as canary' : previous === undefined ? '' : ' in place of the one that failed';
    entries.push({
      ...of,
      key: `placed:${ID}`,
      at: instantFromUnixNanos(allocation.CreateTime),
      mark: 'running',
      word: 'placed',
      words: `${name} was placed on ${NodeName}${place}`,
    });
    for (const [task, { Events }] of Object.entries(allocation.TaskStates ?? {})) {
      const events = Events ?? [];
      if (events.length >= keptEvents && events[0]?.Type !== 'Received')
        gaps.push(`Earlier events of the task ${task} of ${name} are not kept: a task keeps its newest ${keptEvents}.`);
      entries.push(
        ...events
          .filter(({ Type }) => !leftOut.has(Type))
          .map((event, at) => ({
            ...of,
            ...taskEntry(event, `Task ${task} of ${name}`),
            key: `task:${ID} ${task} ${event.Time} ${at}`,
          })),
      );
    }
    const checked = health?.Timestamp == null ? Number.NaN : Date.parse(health.Timestamp);
    if (health?.Healthy != null && !Number.isNaN(checked))
      entries.push({
        ...of,
        key: `health:${ID}`,
        at: checked,
        mark: health.Healthy ? 'good' : 'failed',
        word: health.Healthy ? 'healthy' : 'unhealthy',
        words: `${name} became ${health.Healthy ? 'healthy' : 'unhealthy'}`,
      });
    if (ClientStatus === 'lost' || ClientStatus === 'unknown')
      entries.push({
        ...of,
        key: `lost:${ID}`,
        at: instantFromUnixNanos(allocation.ModifyTime),
        mark: 'lost',
        word: 'lost',
        words: ClientStatus === 'lost' ? `${name} was lost with its node` : `The node of ${name} is away`,
      });
    if (!decided.has(EvalID)) gaps.push('Evaluations that ended earlier were collected.');
    if (previous !== undefined && !known.has(previous))
      gaps.push('Allocations that were replaced earlier were collected.');
  }
  const ranBefore =
    job.exists &&
    allocations.length === 0 &&
    job.runs.some((run) => run.jobId === job.id && run.startedAt !== undefined);
  return { entries, gaps: ranBefore ? [...gaps, 'Its allocations were collected.'] : gaps };
}

function shortName({ Name }: AllocationRecord): string {
  return Name.replace(/^.*\./s, '');
}

function allocationSource(id: string): TimelineEntry['source'] {
  return { label: `allocation ${id.slice(0, 8)}`, path: ['allocs', id] };
}

function taskEntry(
  { Type, Time, DisplayMessage, FailsTask, ExitCode, Signal }: TaskEventRecord,
  name: string,
): Pick<TimelineEntry, 'at' | 'mark' | 'word' | 'words'> {
  const at = instantFromUnixNanos(Time);
  if (Type === 'Started') return { at, mark: 'running', word: 'started', words: `${name} started` };
  if (Type === 'Terminated') {
    const how = Signal > 0 ? `by signal ${Signal}` : `with exit code ${ExitCode}`;
    const failed = ExitCode !== 0 || Signal > 0;
    return { at, mark: failed ? 'failed' : 'good', word: 'ended', words: `${name} ended ${how}` };
  }
  const mark = FailsTask ? 'failed' : 'off';
  return { at, mark, word: Type.toLowerCase(), words: `${name}: ${DisplayMessage || Type}` };
}

function deploymentSource(job: JobRecords): TimelineEntry['source'] {
  return { label: 'deployment', path: jobPath(job, 'deployments') };
}

function beginOf(job: JobRecords, { ID, JobVersion, CreateTime }: DeploymentRecord): Told {
  const entry: TimelineEntry = {
    key: `deployment:${ID}`,
    at: instantFromUnixNanos(CreateTime),
    part: 'job',
    mark: 'running',
    word: 'deploying',
    words: `The deployment of version ${JobVersion} began`,
    source: deploymentSource(job),
  };
  return { entries: [entry], gaps: [] };
}

function promotionOf(job: JobRecords, { ID, JobVersion, TaskGroups }: DeploymentRecord): Told {
  const promoted = Object.entries(TaskGroups).flatMap(([group, { DesiredCanaries, Promoted }]) =>
    DesiredCanaries > 0 && Promoted ? [group] : [],
  );
  if (promoted.length === 0) return { entries: [], gaps: [] };
  // The write of a promotion has an evaluation, which is the first that may replace what is older.
  const cause = [...job.evaluations]
    .sort((a, b) => a.CreateTime - b.CreateTime)
    .find(
      ({ DeploymentID, TriggeredBy, PlanAnnotations }) =>
        DeploymentID === ID &&
        TriggeredBy === 'deployment-watcher' &&
        promoted.some((group) => replaces(PlanAnnotations?.DesiredTGUpdates[group])),
    );
  if (cause === undefined)
    return { entries: [], gaps: [`The canaries of version ${JobVersion} were promoted; when is not known any more.`] };
  const entry: TimelineEntry = {
    key: `promoted:${ID}`,
    at: instantFromUnixNanos(cause.CreateTime),
    part: 'job',
    mark: 'good',
    word: 'promoted',
    words: `The canaries of version ${JobVersion} were promoted`,
    source: deploymentSource(job),
  };
  return { entries: [entry], gaps: [] };
}

function endOfDeployment(job: JobRecords, deployment: DeploymentRecord): Told {
  const { ID, JobVersion, Status, StatusDescription, ModifyTime } = deployment;
  const mark = deploymentMarks[Status];
  if (mark === undefined) return { entries: [], gaps: [] };
  const entry: TimelineEntry = {
    key: `deployed:${ID}`,
    at: instantFromUnixNanos(ModifyTime),
    part: 'job',
    mark,
    word: Status,
    words: `The deployment of version ${JobVersion} ended: ${StatusDescription}`,
    source: deploymentSource(job),
  };
  return { entries: [entry], gaps: [] };
}

const deploymentMarks: Readonly<Record<string, StateMark>> = { successful: 'good', failed: 'failed', cancelled: 'off' };

function replaces(updates: Parameters<typeof decisionText>[0] | undefined): boolean {
  const { Place = 0, DestructiveUpdate = 0, InPlaceUpdate = 0, Stop = 0 } = updates ?? {};
  return Place + DestructiveUpdate + InPlaceUpdate + Stop > 0;
}

const eventMarks: Readonly<Record<string, StateMark>> = { 'run:errored': 'failed', 'run:completed': 'good' };

function toldOfEvent(event: EventRecord): Told {
  const { id, workspaceId, trigger, message, sample, createdAt, erasedAt, attempts } = event;
  const base = ['notify', workspaceId];
  const names = namesOf(event);
  const content = erasedAt === null ? (message === '' ? '' : `: ${message}`) : ', whose content was erased';
  const entries: TimelineEntry[] = [
    {
      key: `event:${id}`,
      at: Date.parse(createdAt),
      part: 'notifications',
      mark: eventMarks[trigger] ?? 'running',
      word: 'event',
      words: `${sample ? 'Sample of ' : ''}${trigger}${content}; ${attempts.length === 0 ? 'nobody was notified' : `for ${counted(attempts.length, 'destination')}`}`,
      source: { label: 'event', path: [...base, 'events', id] },
    },
  ];
  const gaps: string[] = [];
  for (const delivery of attempts) {
    const name = names.get(delivery.configurationId) ?? delivery.configurationId;
    const path = [...base, 'deliveries', delivery.id];
    const of = { part: 'notifications', source: { label: 'delivery', path } } as const;
    const missing = delivery.attemptCount - delivery.attempts.length;
    if (missing > 0)
      gaps.push(
        `${counted(missing, 'earlier try', 'earlier tries')} of the delivery to ${name} ${missing === 1 ? 'is' : 'are'} not kept.`,
      );
    for (const attempt of delivery.attempts) {
      const { number, manual, startedAt, total, status, failure } = attempt;
      const answer = status === null ? 'no answer' : `answer ${status}`;
      entries.push({
        ...of,
        key: `try:${delivery.id} ${number}`,
        at: Date.parse(startedAt),
        mark: failure === null ? 'good' : 'failed',
        word: failure === null ? 'delivered' : 'try failed',
        words: `${name}: try ${number}${manual ? ', by hand' : ''}: ${failure === null ? 'accepted' : failureName(failure.class)}, ${answer} in ${durationText(total)}`,
        source: { label: `try ${number}`, path, query: { try: String(number) } },
      });
    }
    entries.push(...endOf(delivery, name, of));
  }
  return { entries, gaps };
}

/** How a delivery ended, or what it waits for. A success is said by the try. */
function endOf(
  delivery: EventRecord['attempts'][number],
  name: string,
  of: Pick<TimelineEntry, 'part' | 'source'>,
): readonly TimelineEntry[] {
  const { id, outcome, settledAt, nextAttemptAt, waitsFor = null } = delivery;
  const { mark, word, detail } = outcomeWords(delivery);
  const key = `end:${id}`;
  if (outcome === 'delivered') return [];
  if (outcome !== 'pending')
    return settledAt === null
      ? []
      : [
          {
            ...of,
            key,
            at: Date.parse(settledAt),
            mark,
            word: word.toLowerCase(),
            words: `${name}: ${word.toLowerCase()}${detail === '' ? '' : `, ${detail}`}`,
          },
        ];
  const until = Date.parse(waitsFor?.until ?? nextAttemptAt ?? '');
  const why = waitsFor === null ? '' : `: ${waitText(waitsFor)}`;
  return [
    {
      ...of,
      key,
      at: Number.isNaN(until) ? Number.POSITIVE_INFINITY : until,
      mark,
      word: 'next try',
      words: `${name}: the next try${why}`,
      isExpected: true,
    },
  ];
}

/** A line of the list: an entry, or a stretch in which nothing happened. */
export type TimelineLine =
  | { readonly type: 'entry'; readonly entry: TimelineEntry }
  | { readonly type: 'idle'; readonly key: string; readonly milliseconds: number };

/** A stretch of this length is folded, in milliseconds. */
const longIdle = 60_000;

/** The newest entries with the long stretches between them, and the number of older ones that are left out. */
export function linesOf(
  entries: readonly TimelineEntry[],
  most: number,
): { readonly lines: readonly TimelineLine[]; readonly left: number } {
  const shown = entries.slice(-most);
  const lines = shown.flatMap((entry, at): readonly TimelineLine[] => {
    const before = shown[at - 1];
    const idle = before === undefined || entry.isExpected === true ? 0 : entry.at - before.at;
    const line = { type: 'entry', entry } as const;
    return idle < longIdle ? [line] : [{ type: 'idle', key: `idle:${entry.key}`, milliseconds: idle }, line];
  });
  return { lines, left: entries.length - shown.length };
}

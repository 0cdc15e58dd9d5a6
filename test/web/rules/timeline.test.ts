import { describe, expect, it } from 'vitest';
import {
  type EventRecord,
  filterString,
  instanceOf,
  type JobRecords,
  jobOfRun,
  linesOf,
  type RunRecord,
  subjectOf,
  subjectOfJob,
  subjectText,
  type TimelineEntry,
  timelineOf,
} from '../../../web/rules/timeline.js';

const start = Date.parse('2026-11-28T14:00:00.000Z');
/** Unix nanoseconds, so many seconds after the start. */
const nanos = (seconds: number): number => (start + seconds * 1000) * 1e6;
const iso = (seconds: number): string => new Date(start + seconds * 1000).toISOString();

describe('what a timeline is of', () => {
  it.each([
    ['job:default/web', { type: 'job', namespace: 'default', job: 'web' }],
    ['job:default/a%2Fb%25%23%3F%C3%A9%F0%9F%9A%80', { type: 'job', namespace: 'default', job: 'a/b%#?é🚀' }],
    ['run:prod/report/dispatch-1-a', { type: 'run', namespace: 'prod', job: 'report', instance: 'dispatch-1-a' }],
    ['event:ws-team/ne-1', { type: 'event', workspace: 'ws-team', event: 'ne-1' }],
    ['job:default/a%3Ab', { type: 'job', namespace: 'default', job: 'a:b' }],
  ] as const)('%s', (text, subject) => {
    expect(subjectOf(text)).toEqual(subject);
    expect(subjectText(subject)).toBe(text);
  });

  it.each([
    '',
    'job',
    'job:',
    'job:default',
    'job:default/',
    'job:/web',
    'job:a/b/c',
    'run:a/b',
    'event:ws',
    'x:a/b',
    'job:a/%',
  ])('%j is nothing', (text) => expect(subjectOf(text)).toBeUndefined());

  it.each([
    ['web', { type: 'job', namespace: 'default', job: 'web' }],
    ['a/b', { type: 'job', namespace: 'default', job: 'a/b' }],
    ['report/dispatch-1-a', { type: 'run', namespace: 'default', job: 'report', instance: 'dispatch-1-a' }],
    ['a/b/periodic-1700', { type: 'run', namespace: 'default', job: 'a/b', instance: 'periodic-1700' }],
  ])('the job %s', (id, subject) => expect(subjectOfJob('default', id)).toEqual(subject));

  it.each([
    ['report', 'dispatch-1-a', { id: 'report/dispatch-1-a' }],
    ['once', '12', { id: 'once', number: 12 }],
  ])('the run %s %s', (job, instance, of) => {
    expect(jobOfRun(job, instance)).toEqual(of);
    const run = { parentId: job, jobId: of.id, number: 12 };
    expect(instanceOf(run)).toBe(instance);
  });

  it.each([
    ['a', '"a"'],
    ['a"b\\', '"a\\u0022b\\\\"'],
    ['a\nb', '"a\\nb"'],
  ])('%j in a filter', (text, quoted) => expect(filterString(text)).toBe(quoted));
});

const noJob: JobRecords = {
  namespace: 'default',
  id: 'web',
  exists: true,
  versions: [],
  evaluations: [],
  allocations: [],
  deployments: [],
  runs: [],
  instances: [],
};
const version = (Version: number, at: number, more = {}) => ({
  Version,
  Stop: false,
  ParentID: '',
  Dispatched: false,
  SubmitTime: nanos(at),
  ...more,
});
const evaluation = (ID: string, at: number, more = {}) => ({
  ID,
  TriggeredBy: 'job-register',
  Status: 'complete',
  CreateTime: nanos(at),
  ModifyTime: nanos(at),
  ...more,
});
const places = (count: number) => ({ PlanAnnotations: { DesiredTGUpdates: { g: { Place: count, Ignore: 1 } } } });
const taskEvent = (Type: string, at: number, more = {}) => ({
  Type,
  Time: nanos(at),
  DisplayMessage: '',
  FailsTask: false,
  ExitCode: 0,
  Signal: 0,
  ...more,
});
const allocation = (ID: string, at: number, more = {}) => ({
  ID,
  EvalID: 'e1',
  Name: 'web.g[0]',
  NodeName: 'n-1',
  JobVersion: 0,
  ClientStatus: 'running',
  DeploymentStatus: null,
  RescheduleTracker: null,
  TaskStates: null,
  CreateTime: nanos(at),
  ModifyTime: nanos(at),
  ...more,
});
const withTask = (events: readonly ReturnType<typeof taskEvent>[]) => ({
  TaskStates: { main: { Restarts: 0, Events: events } },
});
const run = (number: number, from: number, to: number, more: Partial<RunRecord> = {}): RunRecord => ({
  namespace: 'default',
  parentId: 'web',
  number,
  jobId: 'web',
  version: 0,
  outcome: 'succeeded',
  createdAt: iso(from),
  startedAt: iso(from + 1),
  endedAt: iso(to),
  ...more,
});
const delivery = (more = {}) => ({
  id: 'nd-1',
  configurationId: 'nc-1',
  outcome: 'delivered' as const,
  reason: null,
  settledAt: iso(0),
  nextAttemptAt: null,
  waitsFor: null,
  attemptCount: 0,
  attempts: [],
  ...more,
});
const attempt = (number: number, at: number, more = {}) => ({
  number,
  manual: false,
  startedAt: iso(at),
  total: 80,
  status: 200,
  failure: null,
  ...more,
});
const event = (id: string, at: number, more: Partial<EventRecord> = {}): EventRecord => ({
  id,
  workspaceId: 'ws-1',
  trigger: 'run:errored',
  message: 'Run Errored',
  sample: false,
  createdAt: iso(at),
  erasedAt: null,
  explanations: [{ configurationId: 'nc-1', name: 'Ops hook' }],
  explanationsAtAcceptance: null,
  attempts: [],
  ...more,
});

/** Seconds, the word and the words of each entry. */
const told = (entries: readonly TimelineEntry[]) =>
  entries.map(({ at, word, words }) => `${Number.isFinite(at) ? (at - start) / 1000 : 'later'} ${word}: ${words}`);
const toldOf = (job: Partial<JobRecords>, events: readonly EventRecord[] = []) =>
  told(timelineOf({ job: { ...noJob, ...job }, events }).entries);
const gapsOf = (job: Partial<JobRecords>, events: readonly EventRecord[] = []) =>
  timelineOf({ job: { ...noJob, ...job }, events }).gaps;

describe('a run', () => {
  const failing = withTask([
    taskEvent('Received', 1),
    taskEvent('Task Setup', 1),
    taskEvent('Started', 2),
    taskEvent('Terminated', 9, { ExitCode: 3 }),
    taskEvent('Not Restarting', 9, { DisplayMessage: 'Policy allows no restarts', FailsTask: true }),
  ]);
  const failed = run(7, 0, 9, {
    parentId: 'report',
    jobId: 'report/dispatch-1',
    outcome: 'failed',
    failure: { allocationId: 'a1', exitCode: 3, message: 'fatal: no data' },
  });
  const job: JobRecords = {
    ...noJob,
    id: 'report/dispatch-1',
    versions: [version(4, 0, { ParentID: 'report', Dispatched: true })],
    evaluations: [evaluation('e1', 1, places(1))],
    allocations: [allocation('a1', 1, failing)],
    runs: [failed],
  };
  const errored = event('ne-1', 9, {
    attempts: [
      delivery({ attemptCount: 1, attempts: [attempt(1, 10)] }),
      delivery({
        id: 'nd-2',
        configurationId: 'nc-gone',
        outcome: 'dead',
        reason: 'exhausted',
        settledAt: iso(21),
        attemptCount: 2,
        attempts: [
          attempt(1, 10, { status: 503, failure: { class: 'server_error' } }),
          attempt(2, 20, { manual: true, status: null, total: 15_000, failure: { class: 'total_timeout' } }),
        ],
      }),
    ],
  });

  it('is told from its dispatch to the answers, in the order of cause and effect', () => {
    expect(toldOf(job, [errored, event('ne-0', 0, { trigger: 'run:created', message: 'Run Created' })])).toEqual([
      '0 dispatched: report/dispatch-1 was dispatched',
      '0 event: run:created: Run Created; nobody was notified',
      '1 evaluated: Evaluated, because the job was registered or evaluated again: g: place 1',
      '1 placed: g[0] was placed on n-1',
      '2 started: Task main of g[0] started',
      '9 ended: Task main of g[0] ended with exit code 3',
      '9 not restarting: Task main of g[0]: Policy allows no restarts',
      '9 failed: report/dispatch-1 failed after 8 s, exit code 3: fatal: no data',
      '9 event: run:errored: Run Errored; for 2 destinations',
      '10 delivered: Ops hook: try 1: accepted, answer 200 in 80 ms',
      '10 try failed: nc-gone: try 1: failed with a server error, answer 503 in 80 ms',
      '20 try failed: nc-gone: try 2, by hand: no answer in time, no answer in 15 s',
      '21 given up: nc-gone: given up, every try of the schedule failed',
    ]);
    expect(gapsOf(job, [errored])).toEqual([]);
  });

  it('has a source for each entry', () => {
    const { entries } = timelineOf({ job, events: [errored] });
    expect([...new Set(entries.map(({ source: { path } }) => path.join(' ')))]).toEqual([
      'jobs default report/dispatch-1',
      'evaluations e1',
      'allocs a1',
      'runs default report dispatch-1',
      'notify ws-1 events ne-1',
      'notify ws-1 deliveries nd-1',
      'notify ws-1 deliveries nd-2',
    ]);
    expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
  });

  it('that was collected is told from its record, and that is said', () => {
    const collected = { ...noJob, id: job.id, exists: false, runs: [failed] };
    expect(toldOf(collected)).toEqual([
      '0 launched: report/dispatch-1 was launched',
      '1 started: Its first task started',
      '9 failed: report/dispatch-1 failed after 8 s, exit code 3: fatal: no data',
    ]);
    expect(gapsOf(collected)).toEqual([
      'The job was collected, and with it its evaluations and allocations; the records of its runs stay longer.',
    ]);
  });

  it('of a job without instances has what happened between the end of the run before and its own', () => {
    const several: JobRecords = {
      ...noJob,
      versions: [version(1, 100), version(0, 0)],
      evaluations: [evaluation('e1', 0, places(1)), evaluation('e2', 60, places(1)), evaluation('e3', 100, places(1))],
      allocations: [
        allocation('a1', 0),
        allocation('a2', 60, { EvalID: 'e2' }),
        allocation('a3', 100, { EvalID: 'e3' }),
      ],
      runs: [run(3, 100, 120, { version: 1 }), run(2, 0, 90), run(1, 0, 50)],
    };
    const of = (number: number) => told(timelineOf({ job: several, run: number, events: [] }).entries);
    expect(of(1).map((line) => line.split(':')[0])).toEqual([
      '0 registered',
      '0 evaluated',
      '0 placed',
      '50 succeeded',
    ]);
    expect(
      of(2)
        .slice(1)
        .map((line) => line.split(':')[0]),
    ).toEqual(['60 evaluated', '60 placed', '90 succeeded']);
    expect(of(3).map((line) => line.split(':')[0])).toEqual([
      '100 registered',
      '100 evaluated',
      '100 placed',
      '120 succeeded',
    ]);
    expect(timelineOf({ job: several, run: 3, events: [] }).gaps).toEqual([]);
  });
});

describe('a service', () => {
  const state = { DesiredCanaries: 1, Promoted: true, PlacedCanaries: ['c1'] };
  const deployment = {
    ID: 'd1',
    JobVersion: 1,
    Status: 'successful',
    StatusDescription: 'Deployment completed successfully',
    TaskGroups: { g: state },
    CreateTime: nanos(10),
    ModifyTime: nanos(40),
  };
  const watcher = { TriggeredBy: 'deployment-watcher', DeploymentID: 'd1' };
  const job: JobRecords = {
    ...noJob,
    versions: [version(1, 10), version(0, 0)],
    evaluations: [
      evaluation('e1', 10, { PlanAnnotations: { DesiredTGUpdates: { g: { Canary: 1 } } } }),
      evaluation('e2', 20, watcher),
      evaluation('e3', 30, { ...watcher, PlanAnnotations: { DesiredTGUpdates: { g: { DestructiveUpdate: 2 } } } }),
    ],
    allocations: [
      allocation('c1', 10, { DeploymentStatus: { Healthy: true, Timestamp: iso(20) } }),
      allocation('c2', 30, {
        EvalID: 'e3',
        Name: 'web.g[1]',
        DeploymentStatus: { Healthy: false, Timestamp: iso(35) },
      }),
    ],
    deployments: [deployment],
  };

  it('is told through canaries, health and promotion', () => {
    expect(toldOf(job)).toEqual([
      '0 registered: The job was registered',
      '10 registered: Version 1 was registered',
      '10 deploying: The deployment of version 1 began',
      '10 evaluated: Evaluated, because the job was registered or evaluated again: g: place as canary 1',
      '10 placed: g[0] was placed on n-1 as canary',
      '20 healthy: g[0] became healthy',
      '30 promoted: The canaries of version 1 were promoted',
      '30 evaluated: Evaluated, because the deployment continued: g: replace by the new version 2',
      '30 placed: g[1] was placed on n-1',
      '35 unhealthy: g[1] became unhealthy',
      '40 successful: The deployment of version 1 ended: Deployment completed successfully',
    ]);
  });

  it.each([
    [
      'a promotion whose evaluation was collected',
      { evaluations: job.evaluations.slice(0, 2) },
      /canaries of version 1 were promoted; when is not known/,
    ],
    ['evaluations that were collected', { evaluations: job.evaluations.slice(1) }, /Evaluations that ended earlier/],
    ['versions that are not kept', { versions: [version(1, 10)] }, /Versions before 1 are not kept/],
    [
      'a replaced allocation that was collected',
      { allocations: [allocation('a2', 9, { RescheduleTracker: { Events: [{ PrevAllocID: 'a1' }] } })] },
      /replaced earlier were collected/,
    ],
    [
      'events of a task that are not kept',
      {
        allocations: [
          allocation('a1', 9, withTask(Array.from({ length: 10 }, (_, at) => taskEvent('Restarting', at)))),
        ],
      },
      /Earlier events of the task main of g\[0\]/,
    ],
    ['allocations that were collected', { allocations: [], runs: [run(1, 0, 9)] }, /Its allocations were collected/],
  ])('%s are named', (_, change, gap) => {
    expect(gapsOf({ ...job, ...change })).toContainEqual(expect.stringMatching(gap));
    expect(gapsOf(job)).toEqual([]);
  });

  it.each([
    ['a stop', { versions: [version(2, 5, { Stop: true })] }, '5 stopped: The job was stopped (version 2)'],
    [
      'a blocked evaluation',
      { evaluations: [evaluation('e1', 3, { Status: 'blocked' })] },
      '3 waits: It waits until a node may have room',
    ],
    [
      'a failed evaluation',
      { evaluations: [evaluation('e1', 3, { Status: 'failed', StatusDescription: 'too many attempts' })] },
      '3 failed: An evaluation failed: too many attempts',
    ],
    [
      'a due evaluation',
      { evaluations: [evaluation('e1', 3, { Status: 'pending', TriggeredBy: 'alloc-failure', WaitUntil: iso(90) })] },
      '90 due: An evaluation is due: an allocation failed',
    ],
    [
      'a lost node',
      { allocations: [allocation('a1', 3, { ClientStatus: 'lost', ModifyTime: nanos(8) })] },
      '8 lost: g[0] was lost with its node',
    ],
    [
      'a replacement',
      { allocations: [allocation('a2', 3, { RescheduleTracker: { Events: [{ PrevAllocID: 'a1' }] } })] },
      '3 placed: g[0] was placed on n-1 in place of the one that failed',
    ],
    [
      'a signal',
      { allocations: [allocation('a1', 1, withTask([taskEvent('Terminated', 3, { Signal: 9 })]))] },
      '3 ended: Task main of g[0] ended by signal 9',
    ],
    [
      'an instance under way',
      { instances: [{ ID: 'web/dispatch-1', SubmitTime: nanos(4) }] },
      '4 launched: web/dispatch-1 was launched and is under way',
    ],
    [
      'a run of an instance',
      { runs: [run(2, 1, 3, { jobId: 'web/dispatch-1', outcome: 'timed_out' })] },
      '3 timed out: web/dispatch-1 took too long after 1 s',
    ],
  ])('%s', (_, job, line) => expect(toldOf(job)).toContain(line));

  it('takes no replacement of a failed allocation for the promotion', () => {
    const failure = { TriggeredBy: 'alloc-failure', DeploymentID: 'd1', ...places(1) };
    const evaluations = [...job.evaluations, evaluation('e0', 15, failure)];
    expect(toldOf({ ...job, evaluations })).toContain('30 promoted: The canaries of version 1 were promoted');
  });

  it('leaves out evaluations that changed nothing', () => {
    expect(
      toldOf({
        evaluations: [
          evaluation('e1', 1, { PlanAnnotations: { DesiredTGUpdates: { g: { Ignore: 3 } } } }),
          evaluation('e2', 2, { Status: 'canceled' }),
          evaluation('e3', 2, { Status: 'pending' }),
        ],
      }),
    ).toEqual([]);
  });

  it('says what no room was found for', () => {
    const metric = {
      NodesEvaluated: 2,
      NodesFiltered: 0,
      NodesExhausted: 2,
      NodesInPool: 2,
      NodePool: 'default',
      NodesAvailable: null,
      ConstraintFiltered: null,
      DimensionExhausted: { memory: 2 },
      CoalescedFailures: 0,
    };
    expect(toldOf({ evaluations: [evaluation('e1', 1, { FailedTGAllocs: { g: metric } })] })).toEqual([
      '1 no room: No room for g. 2 nodes of the pool default were examined. 2 nodes lack room: memory (2).',
    ]);
  });
});

describe('notifications', () => {
  const pending = (more = {}) =>
    event('ne-1', 0, { attempts: [delivery({ outcome: 'pending', settledAt: null, ...more })] });

  it.each([
    [
      'a delivery that waits',
      pending({ waitsFor: { reason: 'breaker', until: iso(60) } }),
      '60 next try: Ops hook: the next try: the destination failed repeatedly; nothing is sent to it until then',
    ],
    ['one that is tried again', pending({ nextAttemptAt: iso(30) }), '30 next try: Ops hook: the next try'],
    [
      'one whose time is not known',
      pending({ waitsFor: { reason: 'paused', until: null } }),
      'later next try: Ops hook: the next try: the configuration is paused; resume it to send',
    ],
    [
      'an erased event',
      event('ne-1', 0, { message: '', erasedAt: iso(5) }),
      '0 event: run:errored, whose content was erased; nobody was notified',
    ],
    [
      'a sample',
      event('ne-1', 0, { sample: true }),
      '0 event: Sample of run:errored: Run Errored; nobody was notified',
    ],
  ])('%s', (_, of, line) => expect(toldOf({}, [of])).toContain(line));

  it('has what is expected behind what happened, also when its time has passed', () => {
    const { entries } = timelineOf({
      events: [pending({ nextAttemptAt: iso(-5), attempts: [attempt(1, 2, { failure: { class: 'gone' } })] })],
    });
    expect(entries.map(({ word }) => word)).toEqual(['event', 'try failed', 'next try']);
    expect(entries.at(-1)?.isExpected).toBe(true);
  });

  it('names tries that are not kept', () => {
    expect(
      gapsOf({}, [event('ne-1', 0, { attempts: [delivery({ attemptCount: 3, attempts: [attempt(3, 1)] })] })]),
    ).toEqual(['2 earlier tries of the delivery to Ops hook are not kept.']);
  });
});

describe('the lines', () => {
  const entries = timelineOf({
    job: { ...noJob, versions: [0, 30, 89, 150, 2430].map((at, number) => version(number, at)) },
    events: [],
  }).entries;

  it('fold a stretch of a minute and more in which nothing happened', () => {
    const { lines, left } = linesOf(entries, 10);
    expect(lines.map((line) => (line.type === 'idle' ? line.milliseconds / 1000 : line.entry.words))).toEqual([
      'The job was registered',
      'Version 1 was registered',
      'Version 2 was registered',
      61,
      'Version 3 was registered',
      2280,
      'Version 4 was registered',
    ]);
    expect(left).toBe(0);
  });

  it('are the newest, and the number of the others is known', () => {
    const { lines, left } = linesOf(entries, 2);
    expect(lines.map(({ type }) => type)).toEqual(['entry', 'idle', 'entry']);
    expect(left).toBe(3);
  });

  it('fold nothing before what is expected', () => {
    const waiting = [...entries.slice(-1)].flatMap((entry) => [
      entry,
      { ...entry, at: entry.at + 1e7, isExpected: true },
    ]);
    expect(linesOf(waiting, 9).lines.map(({ type }) => type)).toEqual(['entry', 'entry']);
  });
});

import { orThrow } from '../../../../src/client/index.js';
import type { Job, JobListStub, JobSummary } from '../../../../src/index.js';
import type { AllocationListStub, Deployment, Evaluation } from '../../../../src/scheduler/index.js';
import type { Invocation } from '../../command-line/command.js';
import { jobStatusWord } from '../../output/job-status-word.js';
import { placementFailures } from '../../output/placement-failures.js';
import { allocationsText, deploymentText, facts, tableOf, timeText } from '../../output/tables.js';
import { existing, onlyMatch } from '../find-record.js';
import { optional } from '../option-values.js';
import { print } from '../print.js';
import { listText as evaluationsText } from '../scheduling/evaluation-commands.js';

interface JobStatusView {
  readonly job: Job;
  readonly summary: JobSummary;
  readonly deployment: Deployment | null;
  readonly allocations: readonly AllocationListStub[];
  /** Only if requested. */
  readonly evaluations?: readonly Evaluation[];
  readonly blocked: string;
  /** What is true now, in words. */
  readonly state: string;
  /** How the job ended, as lists show it. */
  readonly outcome?: string;
  /** For an active periodic job: the next launches, in Unix nanoseconds. */
  readonly nextLaunches?: readonly number[];
  /** For a periodic or parameterized job: the latest instances, newest first. */
  readonly lastInstances?: readonly JobListStub[];
}

/** The most instances and launches that are shown. */
const shownInstances = 5;
const shownLaunches = 3;

interface Wanted {
  /** Include allocations of an earlier job with the same ID. */
  readonly all: boolean;
  readonly evals: boolean;
}

/** `signalbox job status JOB`: the overview of a job, which may be given by a prefix of its ID. */
export async function statusOfJob(invocation: Invocation, begins: string, { all, evals }: Wanted): Promise<number> {
  const { box, inNamespace } = invocation;
  // An exact match sorts before longer IDs.
  const { value } = await orThrow(box.jobs.list({ ...inNamespace, prefix: begins, perPage: 11 }));
  const listed = onlyMatch(value.items, begins, 'job');
  const jobId = listed.ID;
  const job = await existing(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
  const [{ jobHealth }, summary, allocations, evaluations, deployment] = await Promise.all([
    // The rules about jobs are large: they are loaded while the server answers.
    import('../../../../src/jobs/index.js'),
    existing(box.jobs.summary(jobId, inNamespace), `job ${jobId}`),
    existing(box.jobs.allocations(jobId, { ...inNamespace, all }), `job ${jobId}`),
    existing(box.jobs.evaluations(jobId, inNamespace), `job ${jobId}`),
    box.jobs.latestDeployment(jobId, inNamespace),
  ]);
  const waiting = evaluations.find(({ Status }) => Status === 'blocked');
  const latest = deployment.isOk() ? deployment.value.value : null;
  const wanted = (job.TaskGroups ?? []).reduce((sum, { Count }) => sum + Count, 0);
  const view = {
    ...{ job, summary, allocations, deployment: latest },
    state: jobHealth(listed, { wanted, deployment: latest }).word,
    ...(evals ? { evaluations } : {}),
    blocked: placementFailures(waiting?.FailedTGAllocs ?? {}, job),
    ...optional('outcome', listed.Outcome),
    ...(await launchesOf(invocation, job)),
  };
  return print(invocation, view, textOf);
}

async function launchesOf(
  invocation: Invocation,
  job: Job,
): Promise<Pick<JobStatusView, 'nextLaunches' | 'lastInstances'>> {
  const { box, inNamespace } = invocation;
  const { ID, Periodic, ParameterizedJob, Dispatched, Stop } = job;
  if (Periodic === null && (ParameterizedJob === null || Dispatched)) return {};
  const page = { prefix: `${ID}/`, reverse: true, perPage: 2 * shownInstances } as const;
  const { value } = await orThrow(box.jobs.list({ ...inNamespace, ...page }));
  const lastInstances = value.items.filter(({ ParentID }) => ParentID === ID).slice(0, shownInstances);
  if (Periodic === null || !Periodic.Enabled || Stop) return { lastInstances };
  const { nextLaunch } = await import('../../../../src/jobs/index.js');
  const nextLaunches: number[] = [];
  for (let after = Date.now(); nextLaunches.length < shownLaunches; ) {
    const next = nextLaunch(Periodic, after).unwrapOr(undefined);
    if (next === undefined) break;
    nextLaunches.push(next * 1e6);
    after = next;
  }
  return { lastInstances, nextLaunches };
}

function textOf(view: JobStatusView): string {
  const { summary, deployment, allocations, evaluations, blocked, nextLaunches, lastInstances } = view;
  return [
    headOf(view),
    nextLaunches === undefined ? '' : launchesText(nextLaunches),
    lastInstances === undefined || lastInstances.length === 0 ? '' : instancesText(lastInstances),
    evaluations === undefined ? '' : evaluationsText(evaluations),
    groupsOf(summary),
    blocked,
    deploymentText(deployment),
    allocationsText(allocations),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function launchesText(launches: readonly number[]): string {
  if (launches.length === 0) return 'Next launches: none, its schedule is over\n';
  return `Next launches: ${launches.map(timeText).join(', ')}\n`;
}

function instancesText(instances: readonly JobListStub[]): string {
  const rows = instances.map((job) => [job.ID, jobStatusWord(job), timeText(job.SubmitTime)]);
  return tableOf(['Last instances', 'Status', 'Submitted'], rows, '');
}

function headOf({ job, state, outcome }: JobStatusView): string {
  return facts({
    ID: job.ID,
    Name: job.Name,
    Namespace: job.Namespace,
    Submitted: timeText(job.SubmitTime),
    Type: job.Type,
    Priority: job.Priority,
    Datacenters: job.Datacenters.join(','),
    'Node pool': job.NodePool,
    Status: jobStatusWord({ ...job, ...optional('Outcome', outcome) }),
    'Status description': job.StatusDescription,
    Version: job.Version,
    Periodic: job.Periodic !== null,
    Parameterized: job.ParameterizedJob !== null && !job.Dispatched,
    State: state,
  });
}

function groupsOf({ Summary, Children }: JobSummary): string {
  const rows = Object.entries(Summary).map(([group, counts]) => [
    group,
    ...[
      counts.Queued,
      counts.Starting,
      counts.Running,
      counts.Failed,
      counts.Complete,
      counts.Lost,
      counts.Unknown,
    ].map(String),
  ]);
  const headings = ['Group', 'Queued', 'Starting', 'Running', 'Failed', 'Complete', 'Lost', 'Unknown'];
  const { Pending, Running, Dead } = Children;
  const instances =
    Pending + Running + Dead === 0 ? '' : `Instances: ${Pending} pending, ${Running} running, ${Dead} ended\n`;
  return instances + (rows.length === 0 ? '' : tableOf(headings, rows, ''));
}

import { orThrow } from '../../../../src/client/index.js';
import type { AllocationListStub, Deployment, Evaluation, Job, JobSummary } from '../../../../src/index.js';
import type { Invocation } from '../../command-line/command.js';
import { facts, tableOf } from '../../output/columns.js';
import { placementFailures } from '../../output/placement-failures.js';
import { allocationsText, deploymentText } from '../../output/tables.js';
import { timeText } from '../../output/times.js';
import { found, theOnly } from '../found.js';
import { print } from '../print.js';
import { listText as evaluationsText } from '../scheduling/evaluation-commands.js';

interface JobStatusView {
  readonly job: Job;
  readonly summary: JobSummary;
  readonly deployment: Deployment | null;
  readonly allocations: readonly AllocationListStub[];
  /** Only when they are wanted. */
  readonly evaluations?: readonly Evaluation[];
  readonly blocked: string;
}

interface Wanted {
  /** Allocations of an earlier job of the same ID too. */
  readonly all: boolean;
  readonly evals: boolean;
}

/** `signalbox job status JOB`: the overview of a job, which may be named by the beginning of its ID. */
export async function statusOfJob(invocation: Invocation, begins: string, { all, evals }: Wanted): Promise<number> {
  const { box, inNamespace } = invocation;
  // The ID itself comes before all that go on behind it.
  const { value } = await orThrow(box.jobs.list({ ...inNamespace, prefix: begins, perPage: 11 }));
  const { ID: jobId } = theOnly(value.items, begins, 'job');
  const job = await found(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
  const [summary, allocations, evaluations, deployment] = await Promise.all([
    found(box.jobs.summary(jobId, inNamespace), `job ${jobId}`),
    found(box.jobs.allocations(jobId, { ...inNamespace, all }), `job ${jobId}`),
    found(box.jobs.evaluations(jobId, inNamespace), `job ${jobId}`),
    box.jobs.latestDeployment(jobId, inNamespace),
  ]);
  const waiting = evaluations.find(({ Status }) => Status === 'blocked');
  const view = {
    job,
    summary,
    deployment: deployment.isOk() ? deployment.value.value : null,
    allocations,
    ...(evals ? { evaluations } : {}),
    blocked: placementFailures(waiting?.FailedTGAllocs ?? {}, job),
  };
  return print(invocation, view, textOf);
}

function textOf({ job, summary, deployment, allocations, evaluations, blocked }: JobStatusView): string {
  return [
    headOf(job),
    evaluations === undefined ? '' : evaluationsText(evaluations),
    groupsOf(summary),
    blocked,
    deploymentText(deployment),
    allocationsText(allocations),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function headOf(job: Job): string {
  return facts({
    ID: job.ID,
    Name: job.Name,
    Namespace: job.Namespace,
    Submitted: timeText(job.SubmitTime),
    Type: job.Type,
    Priority: job.Priority,
    Datacenters: job.Datacenters.join(','),
    'Node pool': job.NodePool,
    Status: job.Stop ? `${job.Status} (stopped)` : job.Status,
    'Status description': job.StatusDescription,
    Version: job.Version,
    Periodic: job.Periodic !== null,
    Parameterized: job.ParameterizedJob !== null && !job.Dispatched,
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
    Pending + Running + Dead === 0 ? '' : `Instances: ${Pending} pending, ${Running} running, ${Dead} dead\n`;
  return instances + (rows.length === 0 ? '' : tableOf(headings, rows, ''));
}

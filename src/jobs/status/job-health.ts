/*
 * The state of a job as people say it: what is true now, apart from what happened before. The page and the command line use the same words.
 */

/** How a state is marked: each has its own shape and colour. */
export type StateMark = 'running' | 'good' | 'waiting' | 'degraded' | 'failed' | 'off' | 'lost';

/** A state in words, and how it is marked. */
export interface JobHealth {
  readonly word:
    | 'Healthy'
    | 'Running'
    | 'Degraded'
    | 'Deploying'
    | 'Recovering'
    | 'Waiting for room'
    | 'Failed'
    | 'Lost'
    | 'Complete'
    | 'Stopped'
    | 'Scaled to zero'
    | 'Scheduled'
    | 'Ready to dispatch';
  readonly mark: StateMark;
}

/** The members of a list entry that decide. */
interface HealthFacts {
  readonly Type: string;
  readonly Status: string;
  readonly Stop: boolean;
  /** Whether it launches instances by the clock. */
  readonly Periodic: boolean;
  /** Whether instances are dispatched. */
  readonly ParameterizedJob: boolean;
  /** How a dead job ended. */
  readonly Outcome?: string;
  readonly JobSummary: {
    readonly Summary: Readonly<Record<string, GroupCounts>> | null;
  };
}

interface GroupCounts {
  readonly Queued: number;
  readonly Starting: number;
  readonly Running: number;
  readonly Lost: number;
  readonly Unknown: number;
}

/** Facts of the job's current activity; without them only the list entry decides. */
interface Activity {
  /** Desired allocations of all groups. */
  readonly wanted: number;
  /** The newest one, if there is any. */
  readonly deployment?: { readonly Status: string } | null;
}

/** Whether a deployment is under way. */
export function isDeploying(deployment: Activity['deployment']): boolean {
  return deployment != null && !/^(?:successful|failed|cancelled)$/.test(deployment.Status);
}

const health = (word: JobHealth['word'], mark: StateMark): JobHealth => ({ word, mark });

/** The state of an entry of `jobs.list` in words; with the job's current activity more precisely. */
export function jobHealth(job: HealthFacts, activity?: Activity): JobHealth {
  if (job.Stop) return health('Stopped', 'off');
  if (job.Status === 'dead') return ended(job.Outcome);
  if (job.Periodic) return health('Scheduled', 'good');
  if (job.ParameterizedJob) return health('Ready to dispatch', 'good');
  return working(job, activity);
}

function ended(outcome: string | undefined): JobHealth {
  if (outcome === 'failed' || outcome === 'timed_out') return health('Failed', 'failed');
  if (outcome === 'lost') return health('Lost', 'lost');
  return outcome === 'stopped' ? health('Stopped', 'off') : health('Complete', 'good');
}

/** The first state that applies. */
function working({ Type, JobSummary }: HealthFacts, { wanted, deployment }: Partial<Activity> = {}): JobHealth {
  const groups = Object.values(JobSummary.Summary ?? {});
  const sum = (of: keyof GroupCounts): number => groups.reduce((total, group) => total + group[of], 0);
  const [queued, starting, running] = [sum('Queued'), sum('Starting'), sum('Running')];
  // Allocations of other types end when their work is done: fewer than desired is not a fault.
  const isLasting = Type === 'service';
  const states: readonly (readonly [boolean, JobHealth['word'], StateMark])[] = [
    [queued > 0 && running === 0, 'Waiting for room', 'waiting'],
    [isDeploying(deployment), 'Deploying', 'running'],
    [queued > 0, 'Waiting for room', 'waiting'],
    [wanted === 0 && running === 0, 'Scaled to zero', 'off'],
    [starting > 0, 'Recovering', 'running'],
    [sum('Unknown') > 0 || (running === 0 && sum('Lost') > 0), 'Degraded', 'degraded'],
    [isLasting && wanted !== undefined && running < wanted, 'Degraded', 'degraded'],
    [isLasting, 'Healthy', 'good'],
  ];
  const [, word, mark] = states.find(([applies]) => applies) ?? [true, 'Running', 'running'];
  return health(word, mark);
}

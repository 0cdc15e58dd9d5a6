/*
 * The state of a job as people say it: what is true now, apart from what happened before. The page and the command line use the same words.
 */

/** How a state is marked: each has its own shape and colour. */
export type StateMark = 'running' | 'good' | 'waiting' | 'degraded' | 'failed' | 'off' | 'lost';

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
  /** Whether a deployment is under way. */
  readonly isDeploying: boolean;
}

const health = (word: JobHealth['word'], mark: StateMark): JobHealth => ({ word, mark });

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

function working(
  { Type, JobSummary }: HealthFacts,
  { wanted, isDeploying = false }: Partial<Activity> = {},
): JobHealth {
  const groups = Object.values(JobSummary.Summary ?? {});
  const sum = (of: keyof GroupCounts): number => groups.reduce((total, group) => total + group[of], 0);
  const running = sum('Running');
  const waits = sum('Queued') > 0;
  if (waits && running === 0) return health('Waiting for room', 'waiting');
  if (isDeploying) return health('Deploying', 'running');
  if (waits) return health('Waiting for room', 'waiting');
  if (wanted === 0 && running === 0) return health('Scaled to zero', 'off');
  if (sum('Starting') > 0) return health('Recovering', 'running');
  if (
    sum('Unknown') > 0 ||
    (running === 0 && sum('Lost') > 0) ||
    (wanted !== undefined && isLasting(Type) && running < wanted)
  )
    return health('Degraded', 'degraded');
  return isLasting(Type) ? health('Healthy', 'good') : health('Running', 'running');
}

/** Allocations of other types end when their work is done: fewer than desired is not a fault. */
function isLasting(type: string): boolean {
  return type === 'service';
}

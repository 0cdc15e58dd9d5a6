import { decideRestart, type RestartCount, type TaskExit } from '../../src/agent/task/decide-restart.js';
import { restartsOnSuccess, taskPhase } from '../../src/agent/task/task-life.js';
import type { Job } from '../../src/jobs/document/job.js';
import type { RestartPolicy } from '../../src/jobs/document/policies.js';
import type { Task } from '../../src/jobs/document/task.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

interface RestartsVector extends Vector {
  readonly input: {
    readonly job_type: Job['Type'];
    readonly lifecycle: { readonly Hook: string; readonly Sidecar: boolean } | null;
    readonly policy: RestartPolicy;
    readonly steps: readonly Step[];
  };
  /** One for each step; null where nothing was decided. */
  readonly answer: readonly (RecordedStep | null)[];
}

interface Step {
  readonly at_ms: number;
  readonly event: string;
  readonly exit_code?: number;
  readonly signal?: number;
  readonly attempts?: number;
}

interface RecordedStep {
  readonly state: string;
  readonly reason: string;
  readonly count: number;
  /** Nanoseconds. */
  readonly delay?: number;
  readonly delay_min?: number;
  readonly delay_max?: number;
}

/** What became of a task at each end, its reason, and how long it waits. */
export const play: Play<RestartsVector> = ({ input, answer }) => {
  const phase = taskPhase({ Lifecycle: input.lifecycle } as Task);
  const again = restartsOnSuccess({ Type: input.job_type }, phase);
  let policy = input.policy;
  let counted: RestartCount = { intervalStart: 0, count: 0 };
  const ours = input.steps.map((step, at) => {
    const recorded = answer[at] ?? null;
    if (step.event === 'policy-attempts') {
      policy = { ...policy, Attempts: step.attempts ?? 0 };
      return null;
    }
    // A tracker that is asked although nothing ended is not a case that a runner has: its count is taken over.
    if (step.event === 'nothing') {
      counted = { ...counted, count: recorded?.count ?? 0 };
      return recorded;
    }
    const uncounted = withoutCount(step.event);
    if (uncounted !== undefined) return { state: uncounted, reason: '', count: counted.count, delay: 0 };
    const decide = (fraction: number) =>
      decideRestart(
        policy,
        { exit: exitOf(step), restartsOnSuccess: again, asFailure: step.event === 'restart-failure' },
        counted,
        { now: step.at_ms, fraction },
      );
    const [least, most] = [decide(0), decide(1)];
    counted = least.next;
    return { state: stateOf[least.type], reason: least.reason, count: counted.count, ...delays(least, most, recorded) };
  });
  return firstDifference(ours, answer);
};

const stateOf = { succeeded: 'Terminated', failed: 'Not Restarting', restart: 'Restarting' } as const;

/** A restart that somebody asked for and a kill ask no policy. */
function withoutCount(event: string): string | undefined {
  if (event === 'restart') return 'Restarting';
  return event === 'kill' || event === 'kill-and-exit' ? 'Killed' : undefined;
}

function exitOf(step: Step): TaskExit {
  const exited = { type: 'exited', code: step.exit_code ?? 0, signal: step.signal ?? 0 } as const;
  switch (step.event) {
    case 'start-error':
      return { type: 'start_failed', message: '', recoverable: false };
    case 'start-error-recoverable':
    case 'start-error-nil':
      return { type: 'start_failed', message: '', recoverable: true };
    case 'exit-error':
      return { ...exited, code: exited.code || 1 };
    case 'oom':
      return { ...exited, outOfMemory: true };
    default:
      return exited;
  }
}

type Verdict = ReturnType<typeof decideRestart>;

/** The recorded range ends one nanosecond before the quarter that our fraction never reaches; no delay is one nanosecond there. */
function delays(least: Verdict, most: Verdict, recorded: RecordedStep | null): Record<string, number> {
  const nanos = (verdict: Verdict): number => (verdict.type === 'restart' ? Math.round(verdict.after * 1e6) : 0);
  if (recorded?.delay_min === undefined) return { delay: nanos(least) };
  return { delay_min: Math.max(1, nanos(least)), delay_max: Math.max(1, nanos(most) - 1) };
}

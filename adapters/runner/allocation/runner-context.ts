import type { NodeDescription } from '../../../src/agent/link/node-work.js';
import type { DecisionInputs } from '../../../src/agent/task/task-life.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Task } from '../../../src/jobs/document/task.js';
import type { TaskGroup } from '../../../src/jobs/document/task-group.js';
import type { AgentLink } from '../../../src/ports/agent-link.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Download } from '../../../src/ports/download.js';
import type { Ids } from '../../../src/ports/ids.js';
import type { Logger } from '../../../src/ports/logger.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import type { ArtifactLimits } from '../artifacts/task-artifacts.js';
import type { DiskHandover } from '../disk/disk-handover.js';
import type { TaskMemory } from '../disk/task-memory.js';
import type { TaskDriver } from '../drivers/task-driver.js';
import type { ServerTime } from '../node/registration.js';
import type { Background } from '../waiting.js';
import type { FunctionSlots } from './function-slots.js';

/** The dependencies that the allocations of one runner share. */
export interface RunnerContext {
  readonly link: Pick<AgentLink, 'variables'>;
  /** Fetches artifacts; null if the runner has no download. */
  readonly download: Download | null;
  readonly artifactLimits: ArtifactLimits;
  readonly clock: Clock;
  readonly serverTime: ServerTime;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly background: Background;
  readonly memory: TaskMemory;
  /** Moves disks to replacements; null for a runner without a directory. */
  readonly disks: DiskHandover | null;
  readonly drivers: ReadonlyMap<string, TaskDriver>;
  /** For tasks of drivers that run functions. */
  readonly functionSlots: FunctionSlots;
  readonly node: NodeDescription;
  /** Whether tasks that can outlive the runner keep running when it stops. */
  readonly leavesTasks: boolean;
}

export function momentOf({ clock, ids }: Pick<RunnerContext, 'clock' | 'ids'>): DecisionInputs {
  return { now: clock.now(), monotonic: clock.monotonic(), timeline: clock.timeline, fraction: ids.fraction() };
}

/** The task to run, with the job version that it belongs to. */
export interface TaskAssignment {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly task: Task;
  readonly allocation: Allocation;
}

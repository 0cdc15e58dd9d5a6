import type { NodeDescription } from '../../../src/agent/link/node-work.js';
import type { Moment } from '../../../src/agent/task/task-record.js';
import type { AgentLink } from '../../../src/ports/agent-link.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Download } from '../../../src/ports/download.js';
import type { Ids } from '../../../src/ports/ids.js';
import type { Logger } from '../../../src/ports/logger.js';
import type { ArtifactLimits } from '../artifacts/task-artifacts.js';
import type { Background } from '../background.js';
import type { DiskSuccession } from '../disk/disk-succession.js';
import type { TaskMemory } from '../disk/task-memory.js';
import type { TaskDriver } from '../drivers/task-driver.js';
import type { ServerTime } from '../node/server-time.js';

/** What the allocations of one runner share. */
export interface Surroundings {
  readonly link: Pick<AgentLink, 'variables'>;
  /** Fetches artifacts; null where nothing may be fetched. */
  readonly download: Download | null;
  readonly artifactLimits: ArtifactLimits;
  readonly clock: Clock;
  readonly serverTime: ServerTime;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly background: Background;
  readonly memory: TaskMemory;
  /** Carries disks over to replacements; null when there is no disk. */
  readonly disks: DiskSuccession | null;
  readonly drivers: ReadonlyMap<string, TaskDriver>;
  readonly node: NodeDescription;
  /** Tasks that can outlive the runner continue when it stops. */
  readonly leavesTasks: boolean;
}

export function momentOf({ clock, ids }: Pick<Surroundings, 'clock' | 'ids'>): Moment {
  return { now: clock.now(), monotonic: clock.monotonic(), timeline: clock.timeline, fraction: ids.fraction() };
}

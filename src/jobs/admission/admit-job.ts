import type { Result } from 'neverthrow';
import type { Job } from '../document/job.js';
import type { AdmissionRefused } from '../errors.js';
import { withExposedChecks } from './exposed-checks.js';
import { withImpliedConstraints } from './implied-constraints.js';
import { withServiceMesh } from './service-mesh.js';

/** The installation's additions to a registered job. */
export interface InstallationDefaults {
  /** The region that replaces `global`. */
  readonly region: string;
}

/**
 * A canonical job with the additions of a registration (job interface, register pipeline): the installation's region and
 * node pool, the proxies of mesh services, the paths of exposed checks, and the constraints that the contents imply.
 * Planning and registering admit a job in the same way; admitting an admitted job changes nothing.
 */
export function admitJob(job: Job, installation: InstallationDefaults): Result<Job, AdmissionRefused> {
  return withServiceMesh(job)
    .andThen(withExposedChecks)
    .map((meshed) => ({
      ...meshed,
      Region: regionOf(job, installation),
      NodePool: job.NodePool === '' ? 'default' : job.NodePool,
      TaskGroups: meshed.TaskGroups.map(withImpliedConstraints),
    }));
}

/** A multi-region job keeps `global`, which means any region. */
function regionOf(job: Job, installation: InstallationDefaults): string {
  if (job.Multiregion !== null) return 'global';
  return job.Region === 'global' ? installation.region : job.Region;
}

import type { JobListStub } from '../../../../src/index.js';
import type { Invocation } from '../../command-line/command.js';

/** The most jobs whose outcomes are computed for one list, the latest ones: each takes two requests. */
const mostComputed = 100;
const atOnce = 8;

/**
 * Listed jobs with their outcomes, also from servers with Nomad's names, which list none: those are computed from the job and its
 * allocations by the server's rule. A job without an outcome is unchanged: it is not dead, it only launches others, or it may not be read.
 */
export async function withOutcomes(
  { box }: Pick<Invocation, 'box'>,
  listed: readonly JobListStub[],
): Promise<readonly JobListStub[]> {
  const unknown = listed
    .filter(({ Status, Outcome, Periodic, ParameterizedJob }) => {
      return Status === 'dead' && Outcome === undefined && !Periodic && !ParameterizedJob;
    })
    .toSorted((left, right) => right.SubmitTime - left.SubmitTime)
    .slice(0, mostComputed);
  if (unknown.length === 0) return listed;
  // Loaded lazily: most servers list outcomes, and the engine is large.
  const { runOutcome } = await import('../../../../src/index.js');
  const computed = new Map<JobListStub, JobListStub>();
  const queue = [...unknown];
  const work = async (): Promise<void> => {
    for (let stub = queue.pop(); stub !== undefined; stub = queue.pop()) {
      const { ID, Namespace = 'default' } = stub;
      const [job, allocations] = await Promise.all([
        box.jobs.read(ID, { namespace: Namespace }),
        box.jobs.allocations(ID, { namespace: Namespace }),
      ]);
      if (job.isErr() || allocations.isErr() || job.value.value === undefined) continue;
      const outcome = runOutcome(job.value.value, allocations.value.value);
      if (outcome !== undefined) computed.set(stub, { ...stub, Outcome: outcome });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return listed.map((stub) => computed.get(stub) ?? stub);
}

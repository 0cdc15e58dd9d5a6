import { policies } from '../../access/policy-record.js';
import type { Principal, Workload } from '../../access/principal.js';
import { workloadPrincipal } from '../../access/token-principal.js';
import type { ReadView } from '../../ports/storage.js';

/** The principal of a task, by the policies of one view. */
export function readWorkload(view: ReadView, workload: Workload): Principal {
  const { namespace, jobId } = workload;
  const candidates = ['', jobId].flatMap((job) =>
    view.list(policies, { index: 'by_job', prefix: [namespace, job] }).map(({ record }) => record),
  );
  return workloadPrincipal(workload, candidates);
}

import { err, ok, type Result } from 'neverthrow';
import type { Job } from '../../../jobs/document/job.js';
import { type InvalidRequest, invalidRequest } from '../../../jobs/errors.js';
import { namespaces } from '../../../jobs/namespaces/namespace.js';
import type { ReadView } from '../../../ports/storage.js';
import { allocations, isTerminalAllocation } from '../../../scheduler/allocation.js';
import { deployments } from '../../../scheduler/deployment/deployment.js';
import { nodes } from '../../../scheduler/node.js';
import { nodePools } from '../../../scheduler/node-pool.js';
import { schedulerConfigurations } from '../../../scheduler/scheduler-configuration.js';
import { contentHash } from '../../records/content-hash.js';
import { readJobRow } from '../../records/jobs/job-rows.js';
import { changedSince, wereRemoved } from '../../records/scheduling/known-cluster.js';

/** What the plan relied on has changed since it was made, or the registration is not the planned one. */
export interface PlanOutdated {
  readonly type: 'plan_outdated';
  /** `document`: another job, or other options, than planned. `job`, `deployments`, and names of tables: changed since. */
  readonly changed: readonly string[];
  readonly message: string;
}

/** Tables that seldom change, and on which a plan may depend as a whole. */
const wholeTables = [namespaces, nodes, nodePools, schedulerConfigurations];

/** More changes of allocations than this make a plan outdated without looking at each. */
const mostChanges = 10_000;

/** What a seal is of: the job and the options of its registration. */
interface SealedRegistration {
  readonly job: Job;
  readonly policyOverride?: boolean | undefined;
  readonly preserveCounts?: boolean | undefined;
  readonly preserveResources?: boolean | undefined;
}

/** The index of the last write that the plan has seen, the index of the job's specification, and a digest of the registration. */
export function sealOf(registration: SealedRegistration, current: Job | undefined, index: number): string {
  return [index, current?.JobModifyIndex ?? 0, digestOf(registration)].join('.');
}

function digestOf({ job, policyOverride, preserveCounts, preserveResources }: SealedRegistration): string {
  const options = [policyOverride === true, preserveCounts === true, preserveResources === true];
  return contentHash({ ...job, NomadTokenID: null }, options);
}

const form = /^(\d{1,15})\.(\d{1,15})\.([A-Za-z0-9+/]{43}=)$/;

/** Whether the registration is the planned one, and would have the planned effect: what the plan relied on is unchanged. */
export function checkSeal(
  view: ReadView,
  registration: SealedRegistration,
  seal: string,
): Result<void, PlanOutdated | InvalidRequest> {
  const { job } = registration;
  const [, index, jobModifyIndex, digest] = form.exec(seal) ?? [];
  if (index === undefined)
    return err(invalidRequest('Seal', 'Seal must be the text of the same name in the answer of a plan'));
  if (digest !== digestOf(registration)) return outdated(['document'], 'it was made for another job or other options');
  const changed = changedInputs(view, job, Number(index));
  const current = readJobRow(view, job.Namespace, job.ID)?.record;
  if (Number(jobModifyIndex) !== (current?.JobModifyIndex ?? 0)) changed.unshift('job');
  return changed.length === 0 ? ok(undefined) : outdated(changed, `${changed.join(', ')} changed since it was made`);
}

function outdated(changed: readonly string[], why: string): Result<never, PlanOutdated> {
  return err({ type: 'plan_outdated', changed, message: `the plan is out of date: ${why}; plan again` });
}

function changedInputs(view: ReadView, { Namespace, ID }: Job, since: number): string[] {
  const changed = wholeTables.filter((table) => view.tableIndex(table) > since).map(({ name }) => name);
  const own = view.list(deployments, { index: 'by_job', prefix: [Namespace, ID] });
  if (own.some(({ modifyIndex }) => modifyIndex > since)) changed.push(deployments.name);
  return allocationsChanged(view, { Namespace, ID }, since) ? [...changed, allocations.name] : changed;
}

/** Reports of nodes about allocations of other jobs, and their ends, take no room that the plan needs. */
function allocationsChanged(view: ReadView, { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>, since: number): boolean {
  if (view.index < since || wereRemoved(view, since)) return true;
  const rows = view.list(allocations, changedSince(since, mostChanges + 1));
  return (
    rows.length > mostChanges ||
    rows.some(({ record }) => {
      if (record.Namespace === Namespace && record.JobID === ID) return true;
      return record.AllocModifyIndex > since && !isTerminalAllocation(record);
    })
  );
}

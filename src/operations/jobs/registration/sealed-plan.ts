import { err, ok, type Result } from 'neverthrow';
import type { Job } from '../../../jobs/document/job.js';
import { jobs, jobVersions } from '../../../jobs/job-record.js';
import { namespaces } from '../../../jobs/namespaces/namespace.js';
import type { ReadView } from '../../../ports/storage.js';
import { allocations } from '../../../scheduler/allocation.js';
import { deployments } from '../../../scheduler/deployment/deployment.js';
import { nodes } from '../../../scheduler/node.js';
import { nodePools } from '../../../scheduler/node-pool.js';
import { schedulerConfigurations } from '../../../scheduler/scheduler-configuration.js';

/** The inputs of a plan: the job as it would be registered, and the last changes of all tables that the plan depends on. */
export interface PlanSeal {
  /** As it would be stored. */
  readonly job: Job;
  /** Whether soft-mandatory policies were overridden. */
  readonly policyOverride: boolean;
  /** By table, the index of its last change. */
  readonly indexes: Readonly<Record<string, number>>;
}

/** An input of the plan has changed since it was made. */
export interface PlanOutdated {
  readonly type: 'plan_outdated';
  /** The tables with newer changes. */
  readonly changed: readonly string[];
  readonly message: string;
}

const tables = [jobs, jobVersions, namespaces, allocations, deployments, nodes, nodePools, schedulerConfigurations];

export function sealOf(view: ReadView, job: Job, policyOverride: boolean): PlanSeal {
  return {
    job,
    policyOverride,
    indexes: Object.fromEntries(tables.map((table) => [table.name, view.tableIndex(table)])),
  };
}

export function checkSeal(view: ReadView, { indexes }: PlanSeal): Result<void, PlanOutdated> {
  const changed = tables.filter((table) => view.tableIndex(table) !== indexes[table.name]).map(({ name }) => name);
  if (changed.length === 0) return ok(undefined);
  const message = `the plan is out of date: ${changed.join(', ')} changed since it was made; plan again`;
  return err({ type: 'plan_outdated', changed, message });
}

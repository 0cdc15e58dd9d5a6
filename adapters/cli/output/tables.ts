import type { AllocationListStub, Deployment } from '../../../src/scheduler/index.js';
import { facts, short, tableOf } from './columns.js';

/** A deployment with its groups; empty if there is none. */
export function deploymentText(deployment: Deployment | null): string {
  if (deployment === null) return '';
  const rows = Object.entries(deployment.TaskGroups).map(([group, state]) => [
    group,
    `${state.Promoted}`,
    ...[state.DesiredTotal, state.DesiredCanaries, state.PlacedAllocs, state.HealthyAllocs, state.UnhealthyAllocs].map(
      String,
    ),
    state.RequireProgressBy ?? '',
  ]);
  const headings = ['Group', 'Promoted', 'Desired', 'Canaries', 'Placed', 'Healthy', 'Unhealthy', 'Progress deadline'];
  return (
    facts({
      Deployment: short(deployment.ID),
      Status: deployment.Status,
      Description: deployment.StatusDescription,
      Version: deployment.JobVersion,
    }) + tableOf(headings, rows, '')
  );
}

/** A table of allocations, newest last. */
export function allocationsText(allocations: readonly AllocationListStub[]): string {
  const rows = allocations.map((allocation) => [
    short(allocation.ID),
    allocation.TaskGroup,
    String(allocation.JobVersion),
    allocation.NodeName,
    allocation.DesiredStatus,
    allocation.ClientStatus,
    timeText(allocation.CreateTime),
  ]);
  return tableOf(['ID', 'Group', 'Version', 'Node', 'Desired', 'Status', 'Created'], rows, 'no allocations');
}

type PlacedAllocation = Pick<
  AllocationListStub,
  'ID' | 'Namespace' | 'JobID' | 'TaskGroup' | 'DesiredStatus' | 'ClientStatus' | 'CreateTime'
>;

/** The allocations of all jobs on one node. */
export function allocationsOnNodeText(allocations: readonly PlacedAllocation[]): string {
  const rows = allocations.map((allocation) => [
    short(allocation.ID),
    allocation.Namespace,
    allocation.JobID,
    allocation.TaskGroup,
    allocation.DesiredStatus,
    allocation.ClientStatus,
    timeText(allocation.CreateTime),
  ]);
  return tableOf(['ID', 'Namespace', 'Job', 'Group', 'Desired', 'Status', 'Created'], rows, 'no allocations');
}

/** `2026-11-22 10:30:00 UTC`; empty without a time. */
export function timeText(unixNanoseconds: number | undefined): string {
  if (unixNanoseconds === undefined || unixNanoseconds <= 0) return '';
  return new Date(unixNanoseconds / 1e6)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}

import type { AllocationListStub, Deployment } from '../../../src/index.js';
import { short } from '../output/columns.js';
import { allocationsText, deploymentText } from '../output/tables.js';

/** A deployment with its allocations. */
export interface DeploymentView {
  readonly deployment: Deployment;
  readonly allocations: readonly AllocationListStub[];
}

export function deploymentFrame({ deployment, allocations }: DeploymentView): string {
  return `${deploymentText(deployment)}\n${allocationsText(allocations)}`;
}

/** Lines for the changes since the previous view, or for everything in the first view. */
export function deploymentNews(before: DeploymentView | undefined, { deployment }: DeploymentView): string {
  const { ID, JobID, JobVersion, Status, StatusDescription } = deployment;
  const lines: string[] = [];
  if (before === undefined) lines.push(`deployment ${short(ID)} (${ID}) of job "${JobID}", version ${JobVersion}`);
  const groupsBefore = before === undefined ? {} : groupLines(before.deployment);
  for (const [group, line] of Object.entries(groupLines(deployment))) {
    if (groupsBefore[group] !== line) lines.push(line);
  }
  const changed = before?.deployment.Status !== Status || before.deployment.StatusDescription !== StatusDescription;
  if (changed) lines.push(`deployment ${short(ID)} is ${Status}: ${StatusDescription}`);
  return lines.map((line) => `${line}\n`).join('');
}

function groupLines({ TaskGroups }: Deployment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(TaskGroups).map(([group, state]) => {
      const { DesiredTotal, DesiredCanaries, PlacedAllocs, HealthyAllocs, UnhealthyAllocs, Promoted } = state;
      const canaries =
        DesiredCanaries === 0 ? '' : `, ${DesiredCanaries} canaries${Promoted ? ' promoted' : ' to be promoted'}`;
      const counts = `${PlacedAllocs} of ${DesiredTotal} placed, ${HealthyAllocs} healthy, ${UnhealthyAllocs} unhealthy`;
      return [group, `  group "${group}": ${counts}${canaries}`];
    }),
  );
}

/** Whether the deployment has ended. */
export function isOver({ Status }: Pick<Deployment, 'Status'>): boolean {
  return Status === 'successful' || Status === 'failed' || Status === 'cancelled';
}

import { orThrow } from '../../../../src/client/index.js';
import type { AllocationListStub, Deployment } from '../../../../src/scheduler/index.js';
import type { Invocation } from '../../command-line/command.js';
import { changesOf, displayOn, noDisplay, type Read } from '../../monitor/monitor.js';
import { allocationsText, deploymentText, short } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';

/** A second read to follow, and the condition on which it ends the wait. */
interface Watched<T> {
  readonly read: Read<T>;
  readonly endsIt: (value: T) => boolean;
}

interface DeploymentEnd<T> {
  /** 0 when the deployment has succeeded. */
  readonly code: number;
  readonly deployment: Deployment;
  readonly watched: T | undefined;
}

/**
 * Shows a deployment until it has ended or `watched` ends the wait; silent with `--json`. It waits for canaries to be promoted
 * and for a paused deployment to be resumed.
 */
export async function followDeployment<T = undefined>(
  { box, inNamespace, terminal, json }: Invocation,
  id: string,
  watched?: Watched<T>,
): Promise<DeploymentEnd<T>> {
  const display = json ? noDisplay : displayOn(terminal);
  let before: DeploymentView | undefined;
  const readDeployment: Read<Deployment> = async (waiting) => {
    const { value, index } = await orThrow(box.deployments.read(id, { ...inNamespace, ...waiting }));
    if (value === undefined) throw new Stopped(`deployment ${id} was removed before it ended`);
    return { value, index };
  };
  const readAllocations: Read<readonly AllocationListStub[]> = async (waiting) =>
    orThrow(box.deployments.allocations(id, { ...inNamespace, ...waiting }));
  const reads = [readDeployment, readAllocations] as const;
  const changes = watched === undefined ? changesOf(...reads) : changesOf(...reads, watched.read);
  for await (const [deployment, allocations, other] of changes) {
    const view = { deployment, allocations };
    const [frame, news] = [deploymentFrame(view), deploymentNews(before, view)];
    before = view;
    const ended = isOver(deployment);
    if (!ended && (other === undefined || watched?.endsIt(other) !== true)) {
      display.show(frame, news);
      continue;
    }
    display.end(frame, news);
    return { code: deployment.Status === 'successful' ? 0 : 1, deployment, watched: ended ? undefined : other };
  }
  throw new Stopped(`cannot follow deployment ${id}`);
}

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
function isOver({ Status }: Pick<Deployment, 'Status'>): boolean {
  return Status === 'successful' || Status === 'failed' || Status === 'cancelled';
}

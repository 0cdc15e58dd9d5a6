import { orThrow } from '../../../../src/client/index.js';
import type { AllocationListStub, Deployment } from '../../../../src/index.js';
import type { Invocation } from '../../command-line/command.js';
import { changesOf, type Read } from '../../monitor/changes.js';
import { type DeploymentView, deploymentFrame, deploymentNews, isOver } from '../../monitor/deployment-view.js';
import { displayOn, noDisplay } from '../../monitor/display.js';
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

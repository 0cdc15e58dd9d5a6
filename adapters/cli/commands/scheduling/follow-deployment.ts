import { orThrow } from '../../../../src/client/index.js';
import type { Deployment } from '../../../../src/index.js';
import type { Invocation } from '../../command-line/command.js';
import { changesOf } from '../../monitor/changes.js';
import { type DeploymentView, deploymentFrame, deploymentNews, isOver } from '../../monitor/deployment-view.js';
import { displayOn, noDisplay } from '../../monitor/display.js';
import { Stopped } from '../../stopped.js';

/**
 * Shows a deployment until it is over; quietly where JSON was asked for. Gives the exit code with the last state: 0 when it
 * has succeeded. What waits for somebody, as canaries do or a paused deployment, is waited for.
 */
export async function followDeployment(
  { box, inNamespace, terminal, json }: Invocation,
  id: string,
): Promise<{ readonly code: number; readonly deployment: Deployment }> {
  const display = json ? noDisplay : displayOn(terminal);
  let before: DeploymentView | undefined;
  const changes = changesOf(
    async (waiting) => {
      const { value, index } = await orThrow(box.deployments.read(id, { ...inNamespace, ...waiting }));
      if (value === undefined) throw new Stopped(`the deployment ${id} is no longer kept`);
      return { value, index };
    },
    async (waiting) => orThrow(box.deployments.allocations(id, { ...inNamespace, ...waiting })),
  );
  for await (const [deployment, allocations] of changes) {
    const view = { deployment, allocations };
    const [frame, news] = [deploymentFrame(view), deploymentNews(before, view)];
    before = view;
    if (!isOver(deployment)) {
      display.show(frame, news);
      continue;
    }
    display.end(frame, news);
    return { code: deployment.Status === 'successful' ? 0 : 1, deployment };
  }
  throw new Stopped(`the deployment ${id} cannot be followed`);
}

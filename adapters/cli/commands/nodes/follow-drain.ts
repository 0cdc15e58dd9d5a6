import { orThrow } from '../../../../src/client/index.js';
import type { Invocation } from '../../command-line/command.js';
import { changesOf } from '../../monitor/changes.js';
import { displayOn, noDisplay } from '../../monitor/display.js';
import {
  type DrainedAllocation,
  type DrainView,
  drainFrame,
  drainNews,
  isDraining,
  wasCanceled,
} from '../../monitor/drain-view.js';
import { Stopped } from '../../stopped.js';
import { print } from '../print.js';

/**
 * Shows the progress of a drain until it ends. Returns the exit code: 1 if the drain was cancelled.
 * `ordered`: the node's allocations at the start of the drain, if this command started it.
 */
export async function followDrain(
  invocation: Invocation,
  nodeId: string,
  ordered?: readonly DrainedAllocation[],
): Promise<number> {
  const { box, terminal, json } = invocation;
  const display = json ? noDisplay : displayOn(terminal);
  let before: DrainView | undefined;
  const changes = changesOf(
    async (waiting) => {
      const { value, index } = await orThrow(box.nodes.read(nodeId, waiting));
      if (value === undefined) throw new Stopped(`node ${nodeId} no longer exists`);
      return { value, index };
    },
    async (waiting) => {
      const { value, index } = await orThrow(box.nodes.allocations(nodeId, waiting));
      return { value: value ?? [], index };
    },
  );
  for await (const [node, allocations] of changes) {
    const view = { node, allocations };
    const [frame, news] = [drainFrame(view), drainNews(before, view, ordered)];
    before = view;
    if (isDraining(node)) {
      display.show(frame, news);
      continue;
    }
    display.end(frame, news);
    if (json) print(invocation, node, () => '');
    return wasCanceled(node) ? 1 : 0;
  }
  throw new Stopped(`cannot follow the drain of node ${nodeId}`);
}

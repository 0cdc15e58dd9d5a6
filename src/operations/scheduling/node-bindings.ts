import type { nodeCalls } from '../../api/calls/scheduling-calls.js';
import type { Bindings } from '../binding.js';
import { listNodes, readNode } from './read-nodes.js';

/** The operations of the calls of nodes. */
export const nodeBindings: Bindings<typeof nodeCalls> = {
  list: (context, caller, input, { waiting }) => listNodes(context, caller, { ...input, waiting }),
  read: (context, caller, input, { waiting }) => readNode(context, caller, input, waiting),
};

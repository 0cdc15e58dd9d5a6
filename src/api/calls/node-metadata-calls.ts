import type { NodeMetadata } from '../../scheduler/nodes/node-metadata.js';
import { inArea } from '../access.js';
import { computed } from '../answers.js';
import { writeServer } from '../call.js';
import { eitherOf, inBody, inQuery, required } from '../inputs.js';
import { jsonName, jsonTextsOrNulls } from '../json-codecs.js';
import { text } from '../text-codecs.js';

const nodeId = inQuery('node_id', text, 'The node; default: the only node connected to this server');

/** Dynamic node metadata: names and values for constraints, in addition to those of the agent. */
export const nodeMetadataCalls = {
  /** The metadata of a node: effective, set dynamically, and reported by its agent. */
  readMeta: writeServer({
    path: '/v1/client/metadata',
    methods: ['GET'],
    access: inArea('node', 'read'),
    summary: 'The metadata of a node: effective, set dynamically, and reported by its agent',
    inputs: { nodeId },
    errors: ['node_not_found', 'node_refused'],
    answer: computed<NodeMetadata>('NodeMetadata'),
  }),

  /** Sets and removes metadata of a node; removing a value reported by the agent only hides it. */
  applyMeta: writeServer({
    path: '/v1/client/metadata',
    methods: ['POST', 'PUT'],
    access: inArea('node', 'write'),
    summary: 'Sets metadata of a node, and removes names with a null value',
    inputs: {
      nodeId: eitherOf(nodeId, inBody('NodeID', jsonName)),
      changes: required(inBody('Meta', jsonTextsOrNulls)),
    },
    errors: ['node_not_found', 'node_refused'],
    answer: computed<NodeMetadata>('NodeMetadata'),
  }),
} as const;

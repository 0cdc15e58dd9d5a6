import type { NodeMetadata } from '../../scheduler/nodes/node-metadata.js';
import { inArea } from '../access.js';
import { computed } from '../answers.js';
import { writeServer } from '../call.js';
import { eitherOf, inBody, inQuery, required } from '../inputs.js';
import { jsonName, jsonTextsOrNulls } from '../json-codecs.js';
import { text } from '../text-codecs.js';

const nodeId = inQuery('node_id', text, 'The node; the one that is connected to this server when absent');

/** What is known of nodes beside what their agents find: names that constraints consider. */
export const nodeMetadataCalls = {
  /** The meta of a node: what is in force, what operators added, and what its agent reports. */
  readMeta: writeServer({
    path: '/v1/client/metadata',
    methods: ['GET'],
    access: inArea('node', 'read'),
    summary: 'The metadata of a node: in force, added dynamically, and reported by its agent',
    inputs: { nodeId },
    errors: ['node_not_found', 'node_refused'],
    answer: computed<NodeMetadata>('NodeMetadata'),
  }),

  /** Adds names to the meta of a node, changes and removes them; what its agent reports is only hidden. */
  applyMeta: writeServer({
    path: '/v1/client/metadata',
    methods: ['POST', 'PUT'],
    access: inArea('node', 'write'),
    summary: 'Sets names of the meta of a node, and removes those whose value is null',
    inputs: {
      nodeId: eitherOf(nodeId, inBody('NodeID', jsonName)),
      changes: required(inBody('Meta', jsonTextsOrNulls)),
    },
    errors: ['node_not_found', 'node_refused'],
    answer: computed<NodeMetadata>('NodeMetadata'),
  }),
} as const;

import type { ClusterEvent } from '../../events/cluster-event.js';
import type { StreamedEvents } from '../../operations/events/stream-events.js';
import { inNamespace } from '../access.js';
import type { AnswerForm } from '../answers.js';
import { stream } from '../call.js';
import { inQueries, inQuery } from '../inputs.js';
import { namedSchema } from '../json-schema.js';
import { signedInteger } from '../text-codecs.js';

export type { ClusterEvent, StreamedEvents };

const batches: AnswerForm<StreamedEvents, StreamedEvents> = {
  schema: namedSchema('EventBatch'),
  status: 200,
  toClient: (batch) => batch,
  toWire: (batch) => JSON.stringify(batch),
  indexOf: () => undefined,
};

/** What happens in the cluster, as it happens. */
export const clusterCalls = {
  /** The changes of jobs, evaluations, allocations, deployments and nodes, each with the transaction that made it. */
  events: stream('lines', {
    path: '/v1/event/stream',
    access: inNamespace('read-job'),
    summary:
      'The changes of jobs, evaluations, allocations, deployments and nodes as they come, one transaction a line',
    inputs: {
      topics: inQueries('topic', 'A topic, with a key behind a colon or without; everything when absent'),
      index: inQuery(
        'index',
        signedInteger('Unable to parse index'),
        'The first index that is wanted; the oldest when 0',
      ),
    },
    errors: ['invalid_topic'],
    answer: batches,
  }),
} as const;

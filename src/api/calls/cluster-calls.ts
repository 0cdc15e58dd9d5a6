import type { ClusterEvent } from '../../events/cluster-event.js';
import type { StreamedEvents } from '../../operations/events/stream-events.js';
import type { Node } from '../../scheduler/node.js';
import { inNamespace } from '../access.js';
import type { AnswerForm } from '../answers.js';
import { stream } from '../call.js';
import { inQueries, inQuery } from '../inputs.js';
import { namedSchema } from '../json-codecs.js';
import { nodeDocument } from '../node-documents.js';
import { signedInteger } from '../text-codecs.js';

/** Conversions of stored records to the form of reads, by topic. */
const shownAs: Readonly<Record<string, (record: never) => unknown>> = {
  Node: (node: Node) => nodeDocument(node),
};

function shownEvent(event: ClusterEvent): ClusterEvent {
  const show = shownAs[event.Topic];
  const record = event.Payload[event.Topic];
  if (show === undefined || record === null || record === undefined) return event;
  return { ...event, Payload: { ...event.Payload, [event.Topic]: show(record as never) } };
}

/** A heartbeat has no batch. */
function shownBatch(batch: StreamedEvents | undefined): StreamedEvents | undefined {
  return batch === undefined || 'Missed' in batch ? batch : { ...batch, Events: batch.Events.map(shownEvent) };
}

/** Serialised events, so that several streams serialise the same event once. */
const printed = new WeakMap<ClusterEvent, string>();

function textOf(event: ClusterEvent): string {
  const known = printed.get(event);
  if (known !== undefined) return known;
  const text = JSON.stringify(shownEvent(event));
  printed.set(event, text);
  return text;
}

function batchText(batch: StreamedEvents | undefined): string | undefined {
  if (batch === undefined || 'Missed' in batch) return JSON.stringify(batch);
  return `{"Index":${batch.Index},"Events":[${batch.Events.map(textOf).join(',')}]}`;
}

const batches: AnswerForm<StreamedEvents, StreamedEvents> = {
  schema: namedSchema('EventBatch'),
  status: 200,
  toClient: (batch) => shownBatch(batch) as StreamedEvents,
  toWire: batchText,
  indexOf: () => undefined,
};

/** The event stream. */
export const clusterCalls = {
  /** The changes of jobs, evaluations, allocations, deployments, services and nodes, grouped by transaction. */
  events: stream('lines', {
    path: '/v1/event/stream',
    access: inNamespace('read-job'),
    summary:
      'Streams the changes of jobs, evaluations, allocations, deployments, services and nodes, one transaction per line',
    inputs: {
      topics: inQueries('topic', 'A topic, or a topic and a key, as TOPIC:KEY; default: all topics'),
      index: inQuery('index', signedInteger('Unable to parse index'), 'The first index to send; 0: the oldest'),
    },
    errors: ['invalid_topic'],
    answer: batches,
  }),
} as const;
